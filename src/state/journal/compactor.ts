import { setImmediate } from 'node:timers/promises';
import { CoalescedWork } from '../../common/coalesced-work.ts';
import { DelayedRun } from '../../common/delayed-run.ts';
import { ignoreWriteError, type Journal } from './journal.ts';

/** The entries in memory. Names and entries may change at any time. */
export interface CurrentEntries<V> {
  readonly size: number;
  names(): Iterable<string>;
  read(name: string): V | undefined;
  readEntry?(name: string, entry: V): V | undefined;
}

export interface Packer<V> {
  add(name: string, entry: V): void;
  expect?(entries: Entries<V>): void;
  /** Bytes added since the last `take`. */
  readonly size: number;
  take(): Buffer;
}

type Entries<V> = readonly (readonly [name: string, entry: V])[];
type Unread<V> = Iterator<readonly [string, V | undefined]>;

/** Milliseconds from a change to its write, so a change is in a file well within a second. */
const FLUSH_INTERVAL = 250;
/**
 * Milliseconds of packing before other work gets its turn, and entries packed between two clock
 * reads.
 */
const PACK_TIME = 0.3;
const PACK_GROUP = 64;
/** Bytes of one batch, not counting its last entries. */
const BATCH = 1 << 20;
/** Minimum number of unchanged entries that a flush rewrites. */
const MIN_REWRITTEN = 1_000;
/**
 * Bytes below which files are never rewritten; above, the limit is a multiple of the size that the
 * entries need.
 */
const FREE_SIZE = 8 << 20;
const MAX_SIZE_FACTOR = 3;
/** Maximum entries that `close` rewrites, and files that it leaves. */
const CLOSE_REWRITES = 10_000;
const CLOSE_MAX_FILES = 8;

/**
 * Stores a map in a journal. A flush writes changed entries. When the files exceed several times
 * the needed size, flushes also rewrite unchanged entries to a new file until older files can be
 * removed.
 */
export class Compactor<V> {
  readonly #journal: Journal;
  readonly #living: CurrentEntries<V>;
  readonly #packer: Packer<V>;
  readonly #beats = new CoalescedWork(() =>
    this.#doBeat().catch(ignoreWriteError),
  );
  readonly #next = new DelayedRun(
    () => void this.#beats.next(),
    FLUSH_INTERVAL,
  );
  #changed = new Set<string>();
  #entries: (readonly [name: string, entry: V])[] = [];
  #beat = 1;
  /** Entries that the newest file may lack; `null`: it contains everything. */
  #others: Unread<V> | null;
  /** Totals, for the mean size. */
  #packed = { entries: 0, bytes: 0 };

  /** `journal` appends to a new file; all needed entries of its older files must be in `living`. */
  constructor(journal: Journal, living: CurrentEntries<V>, packer: Packer<V>) {
    this.#journal = journal;
    this.#living = living;
    this.#packer = packer;
    this.#others = journal.older > 0 ? this.#read(living.names()) : null;
    if (this.#others) this.#next.plan();
  }

  mark(name: string): void {
    this.#changed.add(name);
    this.#next.plan();
  }

  get beat(): number {
    return this.#beat;
  }

  /** `mark` without a lookup, for callers that have the entry and call once per `beat`. */
  markEntry(name: string, entry: V): void {
    this.#entries.push([name, entry]);
    this.#next.plan();
  }

  /** Writes one entry immediately. Rejects with JournalWriteError; the entry is then marked. */
  async write(name: string): Promise<void> {
    this.#packSome(this.#read([name]));
    await this.#journal.commit();
  }

  /** Rejects with JournalWriteError. */
  async flush(): Promise<void> {
    await this.#settle(await this.#write());
  }

  /** Rejects with JournalWriteError. */
  async close(): Promise<void> {
    this.#next.close();
    await this.#beats.idle();
    try {
      await this.flush();
      const finishes =
        this.#living.size <= CLOSE_REWRITES ||
        this.#journal.older >= CLOSE_MAX_FILES;
      while (this.#others && finishes) await this.flush();
    } finally {
      await this.#journal.close();
    }
  }

  /** The next flush does not wait for the sync of this one; the removal of older files does. */
  async #doBeat(): Promise<void> {
    try {
      const finished = await this.#write();
      const settled = this.#settle(finished);
      if (finished) await settled;
      else settled.catch(ignoreWriteError);
    } finally {
      if (this.#others) this.#next.plan();
    }
  }

  /** Returns the unchanged entries if this flush wrote the last of them. */
  async #write(): Promise<Unread<V> | null> {
    const [changed, entries] = [this.#changed, this.#entries];
    this.#changed = new Set();
    this.#entries = [];
    this.#beat += 1;
    if (this.#others === null && this.#isLarge) {
      this.#journal.begin();
      this.#others = this.#read(this.#living.names());
    }
    const count = changed.size + entries.length;
    await this.#pack(this.#read(changed), count);
    await this.#pack(this.#readEntries(entries), count);
    const others = this.#others;
    const areAll =
      others !== null &&
      (await this.#pack(others, Math.max(MIN_REWRITTEN, count)));
    await this.#journal.write();
    return areAll ? others : null;
  }

  async #settle(finished: Unread<V> | null): Promise<void> {
    await this.#journal.commit();
    // Restarted if writes were lost meanwhile.
    if (!finished || finished !== this.#others) return;
    this.#others = null;
    await this.#journal.dropOlder();
  }

  get #isLarge(): boolean {
    const { entries, bytes } = this.#packed;
    const needed = entries === 0 ? 0 : (this.#living.size * bytes) / entries;
    return this.#journal.size > Math.max(FREE_SIZE, MAX_SIZE_FACTOR * needed);
  }

  /** Packs up to `most` entries, yielding to other work. Returns whether none remain. */
  async #pack(entries: Unread<V>, most: number): Promise<boolean> {
    for (let left = most; left > 0; ) {
      const { packed, isLast } = this.#packSome(entries);
      if (isLast) return true;
      left -= packed;
      await setImmediate();
    }
    return false;
  }

  #packSome(entries: Unread<V>): {
    readonly packed: number;
    readonly isLast: boolean;
  } {
    const end = performance.now() + PACK_TIME;
    const packed: string[] = [];
    for (;;) {
      const group: (readonly [string, V])[] = [];
      const isLast = gather(entries, group);
      this.#packer.expect?.(group);
      for (const [name, entry] of group) {
        this.#packer.add(name, entry);
        packed.push(name);
      }
      if (!isLast && this.#packer.size < BATCH && performance.now() < end)
        continue;
      if (packed.length > 0) {
        const payload = this.#packer.take();
        this.#packed.entries += packed.length;
        this.#packed.bytes += payload.length;
        this.#journal.push(payload, () => this.#lost(packed));
      }
      return { packed: packed.length, isLast };
    }
  }

  *#read(names: Iterable<string>): Generator<readonly [string, V | undefined]> {
    for (const name of names) yield [name, this.#living.read(name)];
  }

  *#readEntries(
    entries: Entries<V>,
  ): Generator<readonly [string, V | undefined]> {
    const living = this.#living;
    for (const each of entries)
      yield living.readEntry
        ? [each[0], living.readEntry(each[0], each[1])]
        : each;
  }

  /** The new file of the journal lacks the content of the failed one. */
  #lost(packed: readonly string[]): void {
    for (const name of packed) this.#changed.add(name);
    this.#others = this.#read(this.#living.names());
    this.#next.plan();
  }
}

/** Moves up to GROUP entries into `group`. Returns whether none remain. */
function gather<V>(
  entries: Unread<V>,
  group: (readonly [string, V])[],
): boolean {
  while (group.length < PACK_GROUP) {
    const next = entries.next();
    if (next.done) return true;
    const [name, entry] = next.value;
    if (entry !== undefined) group.push([name, entry]);
  }
  return false;
}
