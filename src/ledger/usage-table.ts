import { NotPacked, Packing, Unpacking } from '../observe/traffic/packing.ts';

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

/** Values by their place, each once. Looked up by a part of it, which few others share. */
class Places<T> {
  readonly all: T[] = [];
  readonly #first = new Map<string | null, number>();
  readonly #next: number[] = [];
  readonly #isSame: (one: T, other: T) => boolean;

  constructor(isSame: (one: T, other: T) => boolean) {
    this.#isSame = isSame;
  }

  of(name: string | null, value: T): number {
    const first = this.#first.get(name) ?? -1;
    for (let place = first; place >= 0; place = this.#next[place]!)
      if (this.#isSame(this.all[place]!, value)) return place;
    const place = this.all.push(value) - 1;
    this.#next.push(first);
    this.#first.set(name, place);
    return place;
  }
}

/** Names of clients, operations and outcomes, which tables may share. */
export class UsageNames {
  readonly #clients = new Places<UsageClient>(
    (one, other) =>
      one.key === other.key &&
      one.account === other.account &&
      one.plan === other.plan,
  );
  readonly #operations = new Places<string>(() => true);
  readonly #outcomes = new Places<Outcome>(
    (one, other) =>
      one.status === other.status &&
      one.code === other.code &&
      one.verdict === other.verdict &&
      one.deprecated === other.deprecated,
  );

  get clients(): readonly UsageClient[] {
    return this.#clients.all;
  }

  get operations(): readonly string[] {
    return this.#operations.all;
  }

  get outcomes(): readonly Outcome[] {
    return this.#outcomes.all;
  }

  client(client: UsageClient): number {
    const { key, account, plan } = client;
    return this.#clients.of(key ?? account ?? plan, client);
  }

  operation(name: string): number {
    return this.#operations.of(name, name);
  }

  outcome(outcome: Outcome): number {
    return this.#outcomes.of(outcome.code, outcome);
  }
}

/**
 * A row is 64 bytes: ten integers (client, operation and outcome, next row of the client, requests
 * by duration, marked requests, second of the last request), then three floats.
 */
const INTEGERS = 16;
const [CLIENT, WORD, NEXT, BUCKETS] = [0, 1, 2, 3];
const MARKED = BUCKETS + DURATION_BUCKETS;
const LAST = MARKED + 1;
const FLOATS = INTEGERS / 2;
const [UNITS, RECEIVED, SENT] = [5, 6, 7];
const FIRST_ROWS = 256;

/** Sums per client, operation and outcome. The rows of a client are a ring. */
export class UsageTable {
  readonly names: UsageNames;
  /** The row of each client that was found last, counted from 1; 0: none. */
  #found = new Uint32Array(FIRST_ROWS);
  #integers = new Uint32Array(FIRST_ROWS * INTEGERS);
  #floats = new Float64Array(this.#integers.buffer);
  size = 0;

  constructor(names: UsageNames = new UsageNames()) {
    this.names = names;
  }

  /** The row that `add` and `count` take. Rows in the order of other tables are found at once. */
  row(client: number, operation: number, outcome: number): number {
    const word = operation * 0x1_0000 + outcome;
    const found = this.#found[client] ?? 0;
    if (found === 0) return this.#added(client, word, -1);
    let row = found - 1;
    do {
      if (this.#integers[row * INTEGERS + WORD] === word) {
        this.#found[client] = row + 1;
        return row;
      }
      row = this.#integers[row * INTEGERS + NEXT]!;
    } while (row !== found - 1);
    return this.#added(client, word, row);
  }

  /** Rows of one client. */
  rowsOf(client: number): number[] {
    const found = this.#found[client] ?? 0;
    const rows: number[] = [];
    if (found === 0) return rows;
    let row = found - 1;
    do {
      rows.push(row);
      row = this.#integers[row * INTEGERS + NEXT]!;
    } while (row !== found - 1);
    return rows;
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
    if (last > this.#integers[at + LAST]!) this.#integers[at + LAST] = last;
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

  /** `after`: the row of the client before it in the ring; -1: it is the first. */
  #added(client: number, word: number, after: number): number {
    if (this.size * INTEGERS === this.#integers.length) {
      this.#integers = larger(this.#integers, 0);
      this.#floats = new Float64Array(this.#integers.buffer);
    }
    if (client >= this.#found.length)
      this.#found = larger(this.#found, client + 1);
    const row = this.size++;
    const at = row * INTEGERS;
    this.#integers[at + CLIENT] = client;
    this.#integers[at + WORD] = word;
    this.#integers[at + NEXT] = row;
    if (after >= 0) {
      const next = after * INTEGERS + NEXT;
      this.#integers[at + NEXT] = this.#integers[next]!;
      this.#integers[next] = row;
    }
    this.#found[client] = row + 1;
    return row;
  }
}

function larger(numbers: Uint32Array, least: number): Uint32Array<ArrayBuffer> {
  const grown = new Uint32Array(Math.max(2 * numbers.length, least));
  grown.set(numbers);
  return grown;
}

function bucketOf(duration: number): number {
  let bucket = 0;
  while (bucket < DURATIONS.length && duration > DURATIONS[bucket]!) bucket++;
  return bucket;
}

/** Rows of a part: unpacking one takes at most some milliseconds. */
export const PART = 1_024;

/** Columns of a row: names, requests by duration, then the rest of `UsageCounts`. */
const ROW_COLUMNS = 3 + DURATION_BUCKETS + 5;

/** The names come first, and only those that the rows have; then each column. */
export function packRows(
  table: UsageTable,
  places: readonly number[] = [...Array(table.size).keys()],
): Uint8Array {
  const { names } = table;
  const clients = new Renumbering<number>();
  const operations = new Renumbering<number>();
  const outcomes = new Renumbering<number>();
  const columns = Array.from({ length: ROW_COLUMNS }, () => new Packing());
  let first = Number.POSITIVE_INFINITY;
  for (const place of places) first = Math.min(first, table.read(place).last);
  for (const place of places) {
    const row = table.read(place);
    columns[0]!.number(clients.place(row.client));
    columns[1]!.number(operations.place(row.operation));
    columns[2]!.number(outcomes.place(row.outcome));
    for (let bucket = 0; bucket < DURATION_BUCKETS; bucket++)
      columns[3 + bucket]!.number(row.requests[bucket]!);
    const rest = [
      row.marked,
      row.last - first,
      row.units,
      row.received,
      row.sent,
    ];
    for (const [n, number] of rest.entries())
      columns[3 + DURATION_BUCKETS + n]!.number(number);
  }
  const accounts = new Renumbering<string | null>();
  const plans = new Renumbering<string | null>();
  const all = clients.used.map((place) => names.clients[place]!);
  const ofAccounts = new Packing();
  const ofPlans = new Packing();
  for (const { account, plan } of all) {
    ofAccounts.number(accounts.place(account));
    ofPlans.number(plans.place(plan));
  }
  const texts = [
    all.map(({ key }) => key),
    accounts.used,
    plans.used,
    operations.used.map((place) => names.operations[place]!),
    outcomes.used.map((place) => names.outcomes[place]!),
  ];
  const packing = new Packing();
  packing.number(places.length);
  packing.number(places.length > 0 ? first : 0);
  for (const text of texts) packing.part(Buffer.from(JSON.stringify(text)));
  for (const column of [ofAccounts, ofPlans, ...columns])
    packing.part(column.bytes);
  return packing.bytes;
}

class Renumbering<T> {
  readonly #places = new Map<T, number>();
  readonly used: T[] = [];

  place(of: T): number {
    let place = this.#places.get(of);
    if (place === undefined) {
      place = this.used.push(of) - 1;
      this.#places.set(of, place);
    }
    return place;
  }
}

/** Of the rows from a place on, to another one. */
export function requestsIn(
  table: UsageTable,
  from = 0,
  to = Number.POSITIVE_INFINITY,
): number {
  let sum = 0;
  for (let row = from; row < Math.min(to, table.size); row++)
    sum += requestsOf(table.read(row));
  return sum;
}

export function requestsOf({ requests }: Pick<UsageRow, 'requests'>): number {
  let sum = 0;
  for (let i = 0; i < requests.length; i++) sum += requests[i]!;
  return sum;
}

/**
 * All rows in parts, by client, so that few parts repeat a name. Yields after each, so that callers
 * can pause.
 */
export function* packAllRows(table: UsageTable): Generator<Uint8Array> {
  let places: number[] = [];
  for (const client of table.names.clients.keys()) {
    places.push(...table.rowsOf(client));
    for (; places.length >= PART; places = places.slice(PART))
      yield packRows(table, places.slice(0, PART));
  }
  if (places.length > 0) yield packRows(table, places);
}

interface PackedNames {
  readonly clients: readonly UsageClient[];
  readonly operations: readonly string[];
  readonly outcomes: readonly Outcome[];
}

/**
 * Calls `names` once, then its result for every row, with an object that the next row changes.
 * Throws NotPacked, and errors of JSON.
 */
export function unpackRows(
  bytes: Uint8Array,
  names: (names: PackedNames) => (row: UsageRow) => void,
): void {
  const packed = new Unpacking(bytes);
  const size = packed.number();
  const first = packed.number();
  const list = () => JSON.parse(packed.text());
  const [keys, accounts, plans] = [list(), list(), list()];
  const [operations, outcomes] = [list(), list()];
  const column = () => new Unpacking(packed.part());
  const [ofAccounts, ofPlans] = [column(), column()];
  const clients = (keys as UsageClient['key'][]).map((key) => ({
    key,
    account: accounts[ofAccounts.number()] as string | null,
    plan: plans[ofPlans.number()] as string | null,
  }));
  const columns = Array.from({ length: ROW_COLUMNS }, (_, n) =>
    numbersIn(packed.part(), size, n),
  );
  if (!packed.isAtEnd) throw new NotPacked('it has too many columns');
  const each = names({ clients, operations, outcomes });
  const requests = new Float64Array(DURATION_BUCKETS);
  const [client, operation, outcome, ...counts] = columns;
  const [marked, last, units, received, sent] = counts.slice(DURATION_BUCKETS);
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
  for (let n = 0; n < size; n++) {
    row.client = client![n]!;
    row.operation = operation![n]!;
    row.outcome = outcome![n]!;
    for (let i = 0; i < DURATION_BUCKETS; i++) requests[i] = counts[i]![n]!;
    row.marked = marked![n]!;
    row.last = first + last![n]!;
    row.units = units![n]!;
    row.received = received![n]!;
    row.sent = sent![n]!;
    each(row);
  }
}

/** One part is unpacked at a time. */
const unpacked = Array.from(
  { length: ROW_COLUMNS },
  () => new Float64Array(PART),
);

/** Into the memory of the column before, if it is large enough. */
function numbersIn(column: Uint8Array, size: number, n: number): Float64Array {
  if (size > column.length) throw new NotPacked('a number is cut off');
  if (size > PART) unpacked[n] = new Float64Array(size);
  new Unpacking(column).numbers(unpacked[n]!, size);
  return unpacked[n]!;
}

/** How rows are named in a sum; `null`: left out. */
export interface Projection {
  readonly client: (client: UsageClient) => UsageClient | null;
  readonly operation: (name: string) => string | null;
  readonly outcome: (outcome: Outcome) => Outcome | null;
}

const AS_THEY_ARE: Projection = {
  client: (client) => client,
  operation: (name) => name,
  outcome: (outcome) => outcome,
};

/** Adds the rows of a part to a table. Throws as `unpackRows`, perhaps with some added. */
export function addRows(
  table: UsageTable,
  bytes: Uint8Array,
  as: Projection = AS_THEY_ARE,
): void {
  const { names } = table;
  unpackRows(bytes, (packed) => {
    const clients = packed.clients.map((client) => {
      const shown = as.client(client);
      return shown === null ? -1 : names.client(shown);
    });
    const operations = packed.operations.map((name) => {
      const shown = as.operation(name);
      return shown === null ? -1 : names.operation(shown);
    });
    const outcomes = packed.outcomes.map((outcome) => {
      const shown = as.outcome(outcome);
      return shown === null ? -1 : names.outcome(shown);
    });
    return (row) => {
      const client = clients[row.client]!;
      const operation = operations[row.operation]!;
      const outcome = outcomes[row.outcome]!;
      if (client >= 0 && operation >= 0 && outcome >= 0)
        table.add(table.row(client, operation, outcome), row);
    };
  });
}
