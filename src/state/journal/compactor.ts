import { setImmediate } from 'node:timers/promises';
import { type Journal, JournalWriteError } from './journal.ts';

/** What is kept: the entries that are in memory now. Names and entries may change at any time. */
export interface CurrentEntries<V> {
  readonly size: number;
  names(): Iterable<string>;
  /** The entry as it is to be written; `undefined`: there is none. */
  read(name: string): V | undefined;
  /** The same where the entry itself is at hand, as it is after `markEntry`. */
  readEntry?(name: string, entry: V): V | undefined;
}

/** Turns entries into the payload of a batch. */
export interface Packer<V> {
  add(name: string, entry: V): void;
  /** Called with entries that are about to be added. */
  expect?(entries: Entries<V>): void;
  /** Bytes of what was added since the last `take`. */
  readonly size: number;
  /** The payload of what was added. */
  take(): Buffer;
}

/** What a beat wrote of entries that did not change, and whether it was the rest of them. */
interface FlushResult<V> {
  readonly others: Iterator<readonly [string, V | undefined]> | null;
  readonly areAll: boolean;
}

type Entries<V> = readonly (readonly [name: string, entry: V])[];

/** Milliseconds between two writes. With the time that a write takes, a change is in a file well within a second. */
const FLUSH_INTERVAL = 250;
/** Milliseconds of packing before other work gets its turn, and how many entries are packed between two looks at the clock. */
const PACK_TIME = 0.3;
const PACK_GROUP = 64;
/** Bytes of one batch, not counting its last entries. */
const BATCH = 1 << 20;
/** Entries that a beat writes anew although they did not change, at least. */
const MIN_REWRITTEN = 1_000;
/** Bytes that the files may have before they are written anew, whatever the entries need; and how many times their need. */
const FREE_SIZE = 8 << 20;
const MAX_SIZE_FACTOR = 3;
/** What `close` still writes anew, and the files that it leaves. */
const CLOSE_REWRITES = 10_000;
const CLOSE_MAX_FILES = 8;

/**
 * Keeps the entries of a map in a journal. Four times a second it writes those that were marked as changed, and nothing else. When
 * the files have grown to several times what the entries need, a new file is begun, and each beat also writes entries that did
 * not change, until the new file holds all of them and the older ones can go.
 */
export class Compactor<V> {
  readonly #journal: Journal;
  readonly #living: CurrentEntries<V>;
  readonly #packer: Packer<V>;
  readonly #timer: NodeJS.Timeout;
  #changed = new Set<string>();
  #entries: (readonly [name: string, entry: V])[] = [];
  #beat = 1;
  /** Those that the newest file may not have yet; `null` while it holds everything that the older ones do. */
  #others: Iterator<readonly [string, V | undefined]> | null;
  #beating: Promise<void> | null = null;
  #isLate = false;
  /** Of all that was ever packed, for the mean. */
  #packed = { entries: 0, bytes: 0 };

  /** `journal` appends to a new file; the entries of its older ones are in `living` by now, or needed no more. */
  constructor(journal: Journal, living: CurrentEntries<V>, packer: Packer<V>) {
    this.#journal = journal;
    this.#living = living;
    this.#packer = packer;
    this.#others = journal.older > 0 ? this.#read(living.names()) : null;
    this.#timer = setInterval(() => this.#tick(), FLUSH_INTERVAL).unref();
  }

  /** Has the entry written with the next beat. */
  mark(name: string): void {
    this.#changed.add(name);
  }

  /** Which beat comes next. */
  get beat(): number {
    return this.#beat;
  }

  /** `mark` for whoever has the entry at hand, and marks it once for each `beat`: nothing is looked up then. */
  markEntry(name: string, entry: V): void {
    this.#entries.push([name, entry]);
  }

  /** Writes one entry at once. Rejects with NotWritten; then it is marked. */
  async write(name: string): Promise<void> {
    this.#packSome(this.#read([name]));
    await this.#journal.commit();
  }

  /** Puts on disk what has changed, and a part of the others while a new file is to hold all. Rejects with NotWritten. */
  async flush(): Promise<void> {
    await this.#settle(await this.#write());
  }

  /** Writes what is left. Rejects with NotWritten if that cannot be. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    // No other beat may follow the one under way: the journal is closed behind it.
    this.#isLate = false;
    await this.#beating;
    try {
      await this.flush();
      const finishes = this.#living.size <= CLOSE_REWRITES || this.#journal.older >= CLOSE_MAX_FILES;
      while (this.#others && finishes) await this.flush();
    } finally {
      await this.#journal.close();
    }
  }

  #tick(): void {
    if (this.#beating) {
      this.#isLate = true;
      return;
    }
    this.#beating = this.#doBeat()
      .catch(ignoreWriteError)
      .then(() => {
        this.#beating = null;
        if (!this.#isLate) return;
        this.#isLate = false;
        this.#tick();
      });
  }

  /** The next beat does not wait for a slow disk to sync this one; older files do, before they go. */
  async #doBeat(): Promise<void> {
    const written = await this.#write();
    const settled = this.#settle(written);
    if (written.areAll) await settled;
    else settled.catch(ignoreWriteError);
  }

  async #write(): Promise<FlushResult<V>> {
    const [changed, entries] = [this.#changed, this.#entries];
    this.#changed = new Set();
    this.#entries = [];
    this.#beat += 1;
    if (this.#others === null && this.#isLarge) this.#beginAnew();
    const count = changed.size + entries.length;
    await this.#pack(this.#read(changed), count);
    await this.#pack(this.#readEntries(entries), count);
    const others = this.#others;
    const areAll = others !== null && (await this.#pack(others, Math.max(MIN_REWRITTEN, count)));
    await this.#journal.write();
    return { others, areAll };
  }

  async #settle({ others, areAll }: FlushResult<V>): Promise<void> {
    await this.#journal.commit();
    // Others again if anything was lost meanwhile.
    if (!areAll || others !== this.#others) return;
    this.#others = null;
    await this.#journal.dropOlder();
  }

  get #isLarge(): boolean {
    const { entries, bytes } = this.#packed;
    const needed = entries === 0 ? 0 : (this.#living.size * bytes) / entries;
    return this.#journal.size > Math.max(FREE_SIZE, MAX_SIZE_FACTOR * needed);
  }

  #beginAnew(): void {
    this.#journal.begin();
    this.#others = this.#read(this.#living.names());
  }

  /** Packs up to `most` entries, in turns. Answers whether none is left. */
  async #pack(entries: Iterator<readonly [string, V | undefined]>, most: number): Promise<boolean> {
    for (let left = most; left > 0; ) {
      const { packed, isLast } = this.#packSome(entries);
      if (isLast) return true;
      left -= packed;
      await setImmediate();
    }
    return false;
  }

  /** Packs entries for a moment, into one batch. */
  #packSome(entries: Iterator<readonly [string, V | undefined]>): {
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
      if (!isLast && this.#packer.size < BATCH && performance.now() < end) continue;
      if (packed.length > 0) this.#push(packed);
      return { packed: packed.length, isLast };
    }
  }

  *#read(names: Iterable<string>): Generator<readonly [string, V | undefined]> {
    for (const name of names) yield [name, this.#living.read(name)];
  }

  *#readEntries(entries: Entries<V>): Generator<readonly [string, V | undefined]> {
    const living = this.#living;
    for (const each of entries) yield living.readEntry ? [each[0], living.readEntry(each[0], each[1])] : each;
  }

  #push(packed: readonly string[]): void {
    const payload = this.#packer.take();
    this.#packed.entries += packed.length;
    this.#packed.bytes += payload.length;
    this.#journal.push(payload, () => this.#lost(packed));
  }

  /** The journal goes on in a new file, which does not have what the last one held. */
  #lost(packed: readonly string[]): void {
    for (const name of packed) this.#changed.add(name);
    this.#others = this.#read(this.#living.names());
  }
}

/** Moves up to GROUP entries into `group`. Answers whether none is left. */
function gather<V>(entries: Iterator<readonly [string, V | undefined]>, group: (readonly [string, V])[]): boolean {
  while (group.length < PACK_GROUP) {
    const next = entries.next();
    if (next.done) return true;
    const [name, entry] = next.value;
    if (entry !== undefined) group.push([name, entry]);
  }
  return false;
}

/** The journal has told it, and what is lost is marked again. Anything else is a bug. */
function ignoreWriteError(error: unknown): void {
  if (!(error instanceof JournalWriteError)) throw error;
}
