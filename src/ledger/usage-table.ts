import { Packing, Unpacking } from '../observe/traffic/packing.ts';

/** `null`: requests without a valid key; the plan is then that of public operations. */
export interface UsageClient {
  readonly key: string | null;
  readonly account: string | null;
  readonly plan: string | null;
}

/** How requests ended. */
export interface Outcome {
  /** 499: the client closed the connection before the response. */
  readonly status: number;
  /** Of the error catalogue, or as `outcomeCode`; `null`: the response of the backend. */
  readonly code: string | null;
  readonly verdict: string | null;
  readonly deprecated: boolean;
}

/** Upper bounds of durations in milliseconds; the last bucket has none. */
export const DURATIONS = [10, 100, 1_000, 10_000] as const;
export const DURATION_BUCKETS = DURATIONS.length + 1;

/**
 * A row is 64 bytes: ten integers (client, operation and outcome, next row of the client,
 * requests by duration, marked requests, second of the last request), then three floats.
 */
const INTEGERS = 16;
const [CLIENT, WORD, NEXT, BUCKETS] = [0, 1, 2, 3];
const MARKED = BUCKETS + DURATION_BUCKETS;
const LAST = MARKED + 1;
const FLOATS = INTEGERS / 2;
const [UNITS, RECEIVED, SENT] = [5, 6, 7];
const FIRST_ROWS = 256;

/** What is added to a row. */
interface UsageCounts {
  readonly requests: ArrayLike<number>;
  /** Admitted close to a limit, or refused and counted as a strike. */
  readonly marked: number;
  /** Unix seconds. */
  readonly last: number;
  readonly units: number;
  readonly received: number;
  readonly sent: number;
}

export interface UsageRow extends UsageCounts {
  readonly client: number;
  readonly operation: number;
  readonly outcome: number;
}

/** Sums per client, operation and outcome. The rows of a client are a list. */
export class UsageTable {
  readonly clients: UsageClient[] = [];
  readonly operations: string[] = [];
  readonly outcomes: Outcome[] = [];
  readonly #clientPlaces = new Map<string, number>();
  readonly #operationPlaces = new Map<string, number>();
  readonly #outcomePlaces = new Map<string, number>();
  /** The first row of each client, counted from 1; 0: none. */
  readonly #heads: number[] = [];
  #integers = new Uint32Array(FIRST_ROWS * INTEGERS);
  #floats = new Float64Array(this.#integers.buffer);
  size = 0;

  client({ key, account, plan }: UsageClient): number {
    const name = JSON.stringify([key, account, plan]);
    const known = this.#clientPlaces.get(name);
    if (known !== undefined) return known;
    this.#heads.push(0);
    return added(this.#clientPlaces, name, this.clients, {
      key,
      account,
      plan,
    });
  }

  operation(name: string): number {
    return (
      this.#operationPlaces.get(name) ??
      added(this.#operationPlaces, name, this.operations, name)
    );
  }

  outcome({ status, code, verdict, deprecated }: Outcome): number {
    const name = JSON.stringify([status, code, verdict, deprecated]);
    const known = this.#outcomePlaces.get(name);
    return (
      known ??
      added(this.#outcomePlaces, name, this.outcomes, {
        status,
        code,
        verdict,
        deprecated,
      })
    );
  }

  /** The row that `add` and `count` take. The last used row of a client is found first. */
  row(client: number, operation: number, outcome: number): number {
    const word = operation * 0x1_0000 + outcome;
    const head = this.#heads[client]!;
    let before = -1;
    for (
      let row = head - 1;
      row >= 0;
      row = this.#integers[row * INTEGERS + NEXT]! - 1
    ) {
      if (this.#integers[row * INTEGERS + WORD] === word) {
        if (before >= 0) this.#moveFirst(client, row, before);
        return row;
      }
      before = row;
    }
    if (this.size * INTEGERS === this.#integers.length) this.#grow();
    const row = this.size++;
    const at = row * INTEGERS;
    this.#integers[at + CLIENT] = client;
    this.#integers[at + WORD] = word;
    this.#integers[at + NEXT] = head;
    this.#heads[client] = row + 1;
    return row;
  }

  /** One request. `last`: Unix seconds. */
  count(row: number, duration: number, marked: boolean, last: number): void {
    const at = row * INTEGERS;
    this.#integers[at + BUCKETS + bucketOf(duration)]!++;
    if (marked) this.#integers[at + MARKED]!++;
    this.#integers[at + LAST] = last;
  }

  amount(row: number, units: number, received: number, sent: number): void {
    const at = row * FLOATS;
    this.#floats[at + UNITS]! += units;
    this.#floats[at + RECEIVED]! += received;
    this.#floats[at + SENT]! += sent;
  }

  add(
    row: number,
    { requests, marked, last, units, received, sent }: UsageCounts,
  ): void {
    const at = row * INTEGERS;
    for (let i = 0; i < DURATION_BUCKETS; i++)
      this.#integers[at + BUCKETS + i]! += requests[i]!;
    this.#integers[at + MARKED]! += marked;
    this.#integers[at + LAST] = Math.max(last, this.#integers[at + LAST]!);
    this.amount(row, units, received, sent);
  }

  /** A view, valid until the next row is added. */
  read(row: number): UsageRow {
    const [at, from] = [row * INTEGERS, row * FLOATS];
    const word = this.#integers[at + WORD]!;
    return {
      client: this.#integers[at + CLIENT]!,
      operation: word >>> 16,
      outcome: word & 0xffff,
      requests: this.#integers.subarray(at + BUCKETS, at + MARKED),
      marked: this.#integers[at + MARKED]!,
      last: this.#integers[at + LAST]!,
      units: this.#floats[from + UNITS]!,
      received: this.#floats[from + RECEIVED]!,
      sent: this.#floats[from + SENT]!,
    };
  }

  /** Keeps the names, and the memory of a usual second. */
  clear(): void {
    for (let row = 0; row < this.size; row++)
      this.#heads[this.#integers[row * INTEGERS]!] = 0;
    this.#integers.fill(0, 0, this.size * INTEGERS);
    this.size = 0;
  }

  #moveFirst(client: number, row: number, before: number): void {
    const next = row * INTEGERS + NEXT;
    this.#integers[before * INTEGERS + NEXT] = this.#integers[next]!;
    this.#integers[next] = this.#heads[client]!;
    this.#heads[client] = row + 1;
  }

  #grow(): void {
    const larger = new Uint32Array(2 * this.#integers.length);
    larger.set(this.#integers);
    this.#integers = larger;
    this.#floats = new Float64Array(larger.buffer);
  }
}

function added<T>(
  places: Map<string, number>,
  name: string,
  list: T[],
  value: T,
): number {
  places.set(name, list.length);
  return list.push(value) - 1;
}

function bucketOf(duration: number): number {
  let bucket = 0;
  while (bucket < DURATIONS.length && duration > DURATIONS[bucket]!) bucket++;
  return bucket;
}

/** Rows between two turns for other work. */
const AT_ONCE = 1_000;

/** The names come first, and only those that rows have. Yields, so that callers can pause. */
export function* packUsage(table: UsageTable): Generator<void, Buffer> {
  const clients = new Renumbering(table.clients);
  const operations = new Renumbering(table.operations);
  const outcomes = new Renumbering(table.outcomes);
  const rows = new Packing();
  for (let row = 0; row < table.size; row++) {
    const {
      client,
      operation,
      outcome,
      requests,
      marked,
      last,
      units,
      received,
      sent,
    } = table.read(row);
    rows.number(clients.place(client));
    rows.number(operations.place(operation));
    rows.number(outcomes.place(outcome));
    let mask = marked > 0 ? 1 << DURATION_BUCKETS : 0;
    for (let i = 0; i < DURATION_BUCKETS; i++)
      if (requests[i]! > 0) mask |= 1 << i;
    rows.number(mask);
    for (let i = 0; i < DURATION_BUCKETS; i++)
      if (requests[i]! > 0) rows.number(requests[i]!);
    if (marked > 0) rows.number(marked);
    for (const number of [last, units, received, sent]) rows.number(number);
    if (row % AT_ONCE === AT_ONCE - 1) yield;
  }
  const names = new Packing();
  for (const { used } of [clients, operations, outcomes])
    names.part(Buffer.from(JSON.stringify(used)));
  return Buffer.concat([names.bytes, rows.bytes]);
}

class Renumbering<T> {
  readonly #all: readonly T[];
  readonly #places = new Map<number, number>();
  readonly used: T[] = [];

  constructor(all: readonly T[]) {
    this.#all = all;
  }

  place(of: number): number {
    let place = this.#places.get(of);
    if (place === undefined) {
      place = this.used.push(this.#all[of]!) - 1;
      this.#places.set(of, place);
    }
    return place;
  }
}

export interface PackedNames {
  readonly clients: readonly UsageClient[];
  readonly operations: readonly string[];
  readonly outcomes: readonly Outcome[];
}

/**
 * Calls `names` once, then `each` for every row, with an object that the next row changes. Yields,
 * so that callers can pause. Throws NotPacked.
 */
export function* unpackUsage(
  bytes: Uint8Array,
  names: (names: PackedNames) => (row: UsageRow) => void,
): Generator<void> {
  if (bytes.length === 0) return;
  const packed = new Unpacking(bytes);
  const [clients, operations, outcomes] = [
    packed.text(),
    packed.text(),
    packed.text(),
  ];
  const each = names({
    clients: JSON.parse(clients),
    operations: JSON.parse(operations),
    outcomes: JSON.parse(outcomes),
  });
  const requests = new Float64Array(DURATION_BUCKETS);
  const row = {
    client: 0,
    operation: 0,
    outcome: 0,
    requests,
    marked: 0,
    last: 0,
    units: 0,
    received: 0,
    sent: 0,
  };
  for (let count = 1; !packed.isAtEnd; count++) {
    row.client = packed.number();
    row.operation = packed.number();
    row.outcome = packed.number();
    const mask = packed.number();
    for (let i = 0; i < DURATION_BUCKETS; i++)
      requests[i] = (mask & (1 << i)) === 0 ? 0 : packed.number();
    row.marked = mask >> DURATION_BUCKETS === 0 ? 0 : packed.number();
    row.last = packed.number();
    row.units = packed.number();
    row.received = packed.number();
    row.sent = packed.number();
    each(row);
    if (count % AT_ONCE === 0) yield;
  }
}
