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
const DURATION_BUCKETS = DURATIONS.length + 1;

export interface UsageRow {
  readonly client: number;
  readonly operation: number;
  readonly outcome: number;
  readonly requests: ArrayLike<number>;
  /** Admitted close to a limit, or refused and counted as a strike. */
  readonly marked: number;
  /** Unix seconds. */
  readonly last: number;
  readonly units: number;
  readonly received: number;
  readonly sent: number;
}

/**
 * Values by their place, each once. Looked up by a part of it, which few others share, unless they
 * follow in the order of before.
 */
class Places<T> {
  readonly all: T[] = [];
  readonly #first = new Map<string | null, number>();
  readonly #next: number[] = [];
  readonly #isSame: (one: T, other: T) => boolean;
  #last = -1;

  constructor(isSame: (one: T, other: T) => boolean) {
    this.#isSame = isSame;
  }

  of(name: string | null, value: T): number {
    const next = this.#last + 1;
    const isNext =
      next < this.all.length && this.#isSame(this.all[next]!, value);
    this.#last = isNext ? next : this.#find(name, value);
    return this.#last;
  }

  #find(name: string | null, value: T): number {
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
  readonly #operations = new Places<string>((one, other) => one === other);
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

/** Columns of a row: client, operation, outcome, then requests by duration. */
const BUCKETS = 3;
const MARKED = BUCKETS + DURATION_BUCKETS;
const LAST = MARKED + 1;
const UNITS = LAST + 1;
const [RECEIVED, SENT] = [UNITS + 1, UNITS + 2];
const ROW_COLUMNS = SENT + 1;

/** First numbers of a row: client, operation and outcome, next row of the client. */
const [CLIENT, WORD, NEXT] = [0, 1, 2];

/**
 * Where a row has its numbers: `counts` up to the last request as integers, or, if they may have more
 * than 32 bits, as floats; amounts are floats. Steps are between rows.
 */
interface Layout {
  readonly isWide: boolean;
  readonly integers: number;
  readonly floats: number;
  readonly counts: number;
  readonly amounts: number;
}

/** 64 bytes. */
const NARROW: Layout = {
  isWide: false,
  integers: 16,
  floats: 8,
  counts: 3 - BUCKETS,
  amounts: 5 - UNITS,
};
/** 96 bytes. */
const WIDE: Layout = {
  isWide: true,
  integers: 24,
  floats: 12,
  counts: 2 - BUCKETS,
  amounts: 9 - UNITS,
};

/** Rows of a block, as a power of two: a table grows without a copy of what it has. */
const BLOCK_BITS = 8;
const BLOCK = 2 ** BLOCK_BITS;

class Block {
  readonly integers: Uint32Array;
  readonly floats: Float64Array;
  readonly counts: Uint32Array | Float64Array;

  constructor({ isWide, floats }: Layout) {
    this.floats = new Float64Array(BLOCK * floats);
    this.integers = new Uint32Array(this.floats.buffer);
    this.counts = isWide ? this.floats : this.integers;
  }
}

/** Sums per client, operation and outcome. The rows of a client are a ring. */
export class UsageTable {
  readonly names: UsageNames;
  readonly #layout: Layout;
  /** Between the counts of rows. */
  readonly #step: number;
  readonly #blocks: Block[] = [];
  /** The row of each client that was found last, counted from 1; 0: none. */
  #found = new Uint32Array(BLOCK);
  size = 0;

  constructor(names: UsageNames = new UsageNames(), { isWide = false } = {}) {
    this.names = names;
    this.#layout = isWide ? WIDE : NARROW;
    this.#step = isWide ? WIDE.floats : NARROW.integers;
  }

  /** The row that others take. Rows in the order of other tables are found at once. */
  row(client: number, operation: number, outcome: number): number {
    const word = operation * 0x1_0000 + outcome;
    const found = this.#found[client] ?? 0;
    if (found === 0) return this.#added(client, word, -1);
    let row = found - 1;
    do {
      if (this.#indexOf(row, WORD) === word) {
        this.#found[client] = row + 1;
        return row;
      }
      row = this.#indexOf(row, NEXT);
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
      row = this.#indexOf(row, NEXT);
    } while (row !== found - 1);
    return rows;
  }

  /** One request. `last`: Unix seconds. */
  count(row: number, duration: number, marked: boolean, last: number): void {
    const { counts } = this.#blockOf(row);
    const at = this.#countsAt(row);
    counts[at + BUCKETS + bucketOf(duration)]!++;
    if (marked) counts[at + MARKED]!++;
    counts[at + LAST] = last;
  }

  amount(row: number, units: number, received: number, sent: number): void {
    const { floats } = this.#blockOf(row);
    const at = this.#amountsAt(row);
    floats[at + UNITS]! += units;
    floats[at + RECEIVED]! += received;
    floats[at + SENT]! += sent;
  }

  /** Adds what the row `n` of packed rows counts. `columns`: from `BUCKETS` on they are read. */
  add(row: number, columns: readonly ArrayLike<number>[], n: number): void {
    const { counts, floats } = this.#blockOf(row);
    const at = this.#countsAt(row);
    for (let column = BUCKETS; column < LAST; column++)
      counts[at + column]! += columns[column]![n]!;
    const last = columns[LAST]![n]!;
    if (last > counts[at + LAST]!) counts[at + LAST] = last;
    const from = this.#amountsAt(row);
    for (let column = UNITS; column < ROW_COLUMNS; column++)
      floats[from + column]! += columns[column]![n]!;
  }

  /** A view. */
  read(row: number): UsageRow {
    const { counts } = this.#blockOf(row);
    const at = this.#countsAt(row);
    return {
      client: this.value(row, 0),
      operation: this.value(row, 1),
      outcome: this.value(row, 2),
      requests: counts.subarray(at + BUCKETS, at + MARKED),
      marked: this.value(row, MARKED),
      last: this.value(row, LAST),
      units: this.value(row, UNITS),
      received: this.value(row, RECEIVED),
      sent: this.value(row, SENT),
    };
  }

  /** `column`: as of packed rows. */
  value(row: number, column: number): number {
    const { counts, floats } = this.#blockOf(row);
    if (column >= UNITS) return floats[this.#amountsAt(row) + column]!;
    if (column >= BUCKETS) return counts[this.#countsAt(row) + column]!;
    if (column === 0) return this.#indexOf(row, CLIENT);
    const word = this.#indexOf(row, WORD);
    return column === 1 ? word >>> 16 : word & 0xffff;
  }

  #countsAt(row: number): number {
    return (row % BLOCK) * this.#step + this.#layout.counts;
  }

  #amountsAt(row: number): number {
    const { floats, amounts } = this.#layout;
    return (row % BLOCK) * floats + amounts;
  }

  #blockOf(row: number): Block {
    return this.#blocks[row >>> BLOCK_BITS]!;
  }

  #indexOf(row: number, number: number): number {
    const at = (row % BLOCK) * this.#layout.integers + number;
    return this.#blockOf(row).integers[at]!;
  }

  /** `after`: the row of the client before it in the ring; -1: it is the first. */
  #added(client: number, word: number, after: number): number {
    const row = this.size++;
    if (row % BLOCK === 0) this.#blocks.push(new Block(this.#layout));
    if (client >= this.#found.length) this.#found = grown(this.#found, client);
    const step = this.#layout.integers;
    let next = row;
    if (after >= 0) {
      const { integers } = this.#blockOf(after);
      const at = (after % BLOCK) * step + NEXT;
      next = integers[at]!;
      integers[at] = row;
    }
    const { integers } = this.#blockOf(row);
    integers.set([client, word, next], (row % BLOCK) * step);
    this.#found[client] = row + 1;
    return row;
  }
}

function grown(numbers: Uint32Array, last: number): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(Math.max(2 * numbers.length, last + 1));
  larger.set(numbers);
  return larger;
}

function bucketOf(duration: number): number {
  let bucket = 0;
  while (bucket < DURATIONS.length && duration > DURATIONS[bucket]!) bucket++;
  return bucket;
}

/** Rows of a part: unpacking one takes at most some milliseconds. */
export const PART = 1_024;

/** The names come first, and only those that the rows have; then each column. */
export function packRows(
  table: UsageTable,
  places: readonly number[] = [...Array(table.size).keys()],
): Uint8Array {
  const { names } = table;
  const used = Array.from({ length: BUCKETS }, () => new Renumbering<number>());
  const [clients, operations, outcomes] = used;
  let first = Number.POSITIVE_INFINITY;
  for (const place of places) first = Math.min(first, table.value(place, LAST));
  const columns = Array.from({ length: ROW_COLUMNS }, (_, column) => {
    const packing = new Packing();
    const subtracted = column === LAST ? first : 0;
    for (const place of places) {
      const value = table.value(place, column);
      packing.number(used[column]?.place(value) ?? value - subtracted);
    }
    return packing.bytes;
  });
  const accounts = new Renumbering<string | null>();
  const plans = new Renumbering<string | null>();
  const all = clients!.used.map((place) => names.clients[place]!);
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
    operations!.used.map((place) => names.operations[place]!),
    outcomes!.used.map((place) => names.outcomes[place]!),
  ];
  const packing = new Packing();
  packing.number(places.length);
  packing.number(places.length > 0 ? first : 0);
  for (const text of texts) packing.part(Buffer.from(JSON.stringify(text)));
  for (const column of [ofAccounts.bytes, ofPlans.bytes, ...columns])
    packing.part(column);
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
  from: number,
  to: number,
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

interface PackedPart extends PackedNames {
  readonly size: number;
  /** Numbers of the rows, until the next part is opened. */
  readonly columns: readonly Float64Array[];
}

function openPart(bytes: Uint8Array): PackedPart {
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
  const last = columns[LAST]!;
  for (let n = 0; n < size; n++) last[n]! += first;
  return { clients, operations, outcomes, size, columns };
}

/**
 * Calls `names` once, then its result for every row, with an object that the next row changes.
 * Throws NotPacked, and errors of JSON.
 */
export function unpackRows(
  bytes: Uint8Array,
  names: (names: PackedNames) => (row: UsageRow) => void,
): void {
  const { size, columns, ...packed } = openPart(bytes);
  const each = names(packed);
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
    row.last = last![n]!;
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
  const { size, columns, ...packed } = openPart(bytes);
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
  const [client, operation, outcome] = columns;
  for (let n = 0; n < size; n++) {
    const one = clients[client![n]!]!;
    const two = operations[operation![n]!]!;
    const three = outcomes[outcome![n]!]!;
    if (one >= 0 && two >= 0 && three >= 0)
      table.add(table.row(one, two, three), columns, n);
  }
}
