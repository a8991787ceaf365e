import { RedisFailure } from './protocol.ts';

export type StreamEntry = readonly [id: string, fields: readonly string[]];

export type Value =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'list'; readonly items: string[] }
  | { readonly type: 'hash'; readonly fields: Map<string, string> }
  | { readonly type: 'sorted'; readonly scores: Map<string, number> }
  /** `last`: the newest id, also of an entry that was dropped. */
  | { readonly type: 'stream'; readonly entries: StreamEntry[]; last: string };

type OfType<T extends Value['type']> = Extract<Value, { readonly type: T }>;

interface Stored {
  readonly value: Value;
  /** Unix milliseconds by the clock of Redis; Infinity: never. */
  expiresAt: number;
}

export type Backup = ReadonlyMap<string, Stored>;

interface Undo {
  /** True time. */
  readonly at: number;
  readonly key: string;
  readonly before: Stored | null;
}

/** Milliseconds of writes that a replica may lack. */
export const LONGEST_LAG = 2_000;

const EMPTY: { readonly [T in Value['type']]: () => OfType<T> } = {
  text: () => ({ type: 'text', text: '' }),
  list: () => ({ type: 'list', items: [] }),
  hash: () => ({ type: 'hash', fields: new Map() }),
  sorted: () => ({ type: 'sorted', scores: new Map() }),
  stream: () => ({ type: 'stream', entries: [], last: '0-0' }),
};

/** The data of Redis, with lifetimes, and the last writes, which a failover may lose. */
export class RedisData {
  readonly #now: () => number;
  readonly #trueTime: () => number;
  readonly #keys = new Map<string, Stored>();
  #undo: Undo[] = [];

  /** `now`: its own clock, Unix milliseconds. */
  constructor(now: () => number, trueTime: () => number) {
    this.#now = now;
    this.#trueTime = trueTime;
  }

  get size(): number {
    for (const key of [...this.#keys.keys()]) this.#stored(key);
    return this.#keys.size;
  }

  names(): string[] {
    return [...this.#keys.keys()].filter((key) => this.#stored(key) !== null);
  }

  /** Throws WRONGTYPE, as Redis. */
  read<T extends Value['type']>(key: string, type: T): OfType<T> | null {
    const value = this.#stored(key)?.value ?? null;
    if (value !== null && value.type !== type)
      throw new RedisFailure('WRONGTYPE the key holds another kind of value');
    return value as OfType<T> | null;
  }

  /** The value to change in place; a missing one is created. */
  change<T extends Value['type']>(key: string, type: T): OfType<T> {
    const existing = this.read(key, type);
    this.#note(key);
    if (existing) return existing;
    const value = EMPTY[type]() as OfType<T>;
    this.#keys.set(key, { value, expiresAt: Number.POSITIVE_INFINITY });
    return value;
  }

  put(key: string, value: Value, lifetime = Number.POSITIVE_INFINITY): void {
    this.#note(key);
    this.#keys.set(key, { value, expiresAt: this.#now() + lifetime });
  }

  remove(key: string): boolean {
    if (this.#stored(key) === null) return false;
    this.#note(key);
    return this.#keys.delete(key);
  }

  /** Throws if the id is not newer than all before it. */
  addEntry(key: string, id: string, fields: readonly string[]): void {
    const stream = this.change(key, 'stream');
    if (!isNewer(id, stream.last))
      throw new RedisFailure('ERR The ID specified in XADD is equal or smaller than the target');
    stream.entries.push([id, fields]);
    stream.last = id;
  }

  /** Returns whether there is such a key. */
  expire(key: string, lifetime: number): boolean {
    this.#note(key);
    const stored = this.#stored(key);
    if (stored) stored.expiresAt = this.#now() + lifetime;
    return stored !== null;
  }

  /** As PTTL: milliseconds; -1: without a lifetime; -2: missing. */
  leftOf(key: string): number {
    const stored = this.#stored(key);
    if (stored === null) return -2;
    return Number.isFinite(stored.expiresAt) ? stored.expiresAt - this.#now() : -1;
  }

  has(key: string): boolean {
    return this.#stored(key) !== null;
  }

  /** Forgets the writes of the last `lag` milliseconds of true time. */
  loseWrites(lag: number): void {
    const since = this.#trueTime() - lag;
    for (const { at, key, before } of this.#undo.splice(0).reverse()) {
      if (at < since) break;
      if (before) this.#keys.set(key, before);
      else this.#keys.delete(key);
    }
  }

  /** Copies of all values whose names contain `part`. */
  backUp(part: string): Backup {
    const names = this.names().filter((name) => name.includes(part));
    return new Map(names.map((name) => [name, copyOfStored(this.#keys.get(name)!)]));
  }

  /** In place of all values whose names contain `part`; a failover does not undo it. */
  restore(part: string, backup: Backup): void {
    this.#undo = [];
    for (const name of this.names()) if (name.includes(part)) this.#keys.delete(name);
    for (const [name, stored] of backup) this.#keys.set(name, copyOfStored(stored));
  }

  #stored(key: string): Stored | null {
    const stored = this.#keys.get(key);
    if (stored === undefined) return null;
    if (stored.expiresAt > this.#now() && !isEmpty(stored.value)) return stored;
    this.#keys.delete(key);
    return null;
  }

  #note(key: string): void {
    const at = this.#trueTime();
    if ((this.#undo[0]?.at ?? at) < at - 2 * LONGEST_LAG) {
      this.#undo = this.#undo.filter((one) => one.at >= at - LONGEST_LAG);
    }
    const stored = this.#stored(key);
    this.#undo.push({ at, key, before: stored && copyOfStored(stored) });
  }
}

/** Redis has no empty values of these kinds. */
const isEmpty = (value: Value): boolean =>
  (value.type === 'hash' && value.fields.size === 0) ||
  (value.type === 'sorted' && value.scores.size === 0) ||
  (value.type === 'list' && value.items.length === 0);

const partsOf = (id: string) => id.split('-').map(Number) as [number, number];

/** Of ids in a stream. */
export function isNewer(id: string, other: string): boolean {
  const [[number, part], [otherNumber, otherPart]] = [partsOf(id), partsOf(other)];
  return number > otherNumber || (number === otherNumber && part > otherPart);
}

const copyOfStored = ({ value, expiresAt }: Stored): Stored => ({
  value: copyOf(value),
  expiresAt,
});

function copyOf(value: Value): Value {
  switch (value.type) {
    case 'text':
      return value;
    case 'list':
      return { type: 'list', items: [...value.items] };
    case 'hash':
      return { type: 'hash', fields: new Map(value.fields) };
    case 'sorted':
      return { type: 'sorted', scores: new Map(value.scores) };
    case 'stream':
      return { ...value, entries: [...value.entries] };
  }
}
