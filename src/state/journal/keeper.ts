import { setImmediate } from 'node:timers/promises';
import { type Journal, NotWritten } from './journal.ts';

/** An entry in memory. */
export interface Kept {
  /** The beat in which the keeper was last told of a change, which is the keeper's to set; 0: never. */
  marked: number;
}

/** What is kept: the entries that are in memory now. They may change, come and go at any time. */
export interface Living<V extends Kept> {
  readonly size: number;
  entries(): Iterable<readonly [name: string, entry: V]>;
  get(name: string): V | undefined;
  /** What is to be written of an entry, or of a name without one; `undefined`: nothing. */
  toWrite(name: string, entry: V | undefined): V | undefined;
}

/** Turns entries into the payload of a batch. */
export interface Packer<V> {
  add(entries: readonly (readonly [name: string, entry: V])[]): void;
  /** Bytes of what was added since the last `take`. */
  readonly size: number;
  /** The payload of what was added. */
  take(): Buffer;
}

/** Milliseconds between two writes. With the time that a write takes, a change is on disk within a second. */
const BEAT = 500;
/** Milliseconds of packing before other work gets its turn, and how many entries are packed between two looks at the clock. */
const SLICE = 0.3;
const GROUP = 64;
/** Bytes of one batch, not counting its last entries. */
const BATCH = 1 << 20;
/** Entries that a beat writes anew although they did not change, at least. */
const OTHERS = 2_000;
/** Bytes that the files may have before they are written anew, whatever the entries need; and how many times their need. */
const FREE = 8 << 20;
const TIMES = 3;
/** What `close` still writes anew, and the files that it leaves. */
const FEW = 10_000;
const FILES_LEFT = 8;

/**
 * Keeps the entries of a map in a journal. Twice a second it writes those that were marked as changed, and nothing else. When
 * the files have grown to several times what the entries need, a new file is begun, and each beat also writes entries that did
 * not change, until the new file holds all of them and the older ones can go.
 */
export class Keeper<V extends Kept> {
  readonly #journal: Journal;
  readonly #living: Living<V>;
  readonly #packer: Packer<V>;
  readonly #timer: NodeJS.Timeout;
  #changed: (readonly [name: string, entry: V])[] = [];
  #beat = 1;
  /** Those that the newest file may not have yet; `null` while it holds everything that the older ones do. */
  #others: Entries<V> | null;
  #beating: Promise<void> | null = null;
  #isLate = false;
  /** Of all that was ever packed, for the mean. */
  #packed = { entries: 0, bytes: 0 };

  /** `journal` appends to a new file; the entries of its older ones are in `living` by now, or needed no more. */
  constructor(journal: Journal, living: Living<V>, packer: Packer<V>) {
    this.#journal = journal;
    this.#living = living;
    this.#packer = packer;
    this.#others = journal.older > 0 ? entriesOf(living) : null;
    this.#timer = setInterval(() => this.#tick(), BEAT).unref();
  }

  /** Has the entry written with the next beat. As cheap as can be: every request calls it. */
  mark(name: string, entry: V): void {
    if (entry.marked === this.#beat) return;
    entry.marked = this.#beat;
    this.#changed.push([name, entry]);
  }

  /** Writes one entry at once. Rejects with NotWritten; then it is marked. */
  async write(name: string): Promise<void> {
    this.#packSome([[name, this.#living.get(name)] as const].values());
    await this.#journal.commit();
  }

  /** Writes what has changed, and a part of the others while a new file is to hold all. Rejects with NotWritten. */
  async flush(): Promise<void> {
    const changed = this.#changed;
    this.#changed = [];
    this.#beat += 1;
    if (this.#others === null && this.#isLarge) this.#beginAnew();
    await this.#pack(changed.values(), changed.length);
    const others = this.#others;
    const wereAll = others !== null && (await this.#pack(others, Math.max(OTHERS, changed.length)));
    await this.#journal.commit();
    // Others again if a commit has failed meanwhile.
    if (!wereAll || others !== this.#others) return;
    this.#others = null;
    await this.#journal.dropOlder();
  }

  /** Writes what is left. Rejects with NotWritten if that cannot be. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#beating;
    try {
      await this.flush();
      const finishes = this.#living.size <= FEW || this.#journal.older >= FILES_LEFT;
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
    this.#beating = this.flush()
      .catch(expectNotWritten)
      .then(() => {
        this.#beating = null;
        if (!this.#isLate) return;
        this.#isLate = false;
        this.#tick();
      });
  }

  get #isLarge(): boolean {
    const { entries, bytes } = this.#packed;
    const needed = entries === 0 ? 0 : (this.#living.size * bytes) / entries;
    return this.#journal.size > Math.max(FREE, TIMES * needed);
  }

  #beginAnew(): void {
    this.#journal.begin();
    this.#others = entriesOf(this.#living);
  }

  /** Packs up to `most` entries, in turns. Answers whether none is left. */
  async #pack(entries: Entries<V>, most: number): Promise<boolean> {
    for (let left = most; left > 0; ) {
      const { packed, isLast } = this.#packSome(entries);
      if (isLast) return true;
      left -= packed;
      await setImmediate();
    }
    return false;
  }

  /** Packs entries for a moment, into one batch. */
  #packSome(entries: Entries<V>): { readonly packed: number; readonly isLast: boolean } {
    const end = performance.now() + SLICE;
    const packed: string[] = [];
    for (let isLast = false; ; ) {
      const group: (readonly [name: string, entry: V])[] = [];
      while (group.length < GROUP && !isLast) {
        const next = entries.next();
        if (next.done) isLast = true;
        else this.#gather(next.value, group);
      }
      this.#packer.add(group);
      for (const [name] of group) packed.push(name);
      if (!isLast && this.#packer.size < BATCH && performance.now() < end) continue;
      if (packed.length > 0) this.#push(packed);
      return { packed: packed.length, isLast };
    }
  }

  #gather([name, entry]: readonly [string, V | undefined], group: (readonly [string, V])[]): void {
    const written = this.#living.toWrite(name, entry);
    if (written !== undefined) group.push([name, written]);
  }

  #push(packed: readonly string[]): void {
    const payload = this.#packer.take();
    this.#packed.entries += packed.length;
    this.#packed.bytes += payload.length;
    this.#journal.push(payload, () => this.#lost(packed));
  }

  /** The journal goes on in a new file, which does not have what the last one held. */
  #lost(packed: readonly string[]): void {
    for (const name of packed) {
      const entry = this.#living.get(name);
      if (entry) this.mark(name, entry);
    }
    this.#others = entriesOf(this.#living);
  }
}

type Entries<V> = Iterator<readonly [name: string, entry: V | undefined]>;

function entriesOf<V extends Kept>(living: Living<V>): Entries<V> {
  return living.entries()[Symbol.iterator]();
}

/** The journal has told it, and what is lost is marked again. Anything else is a bug. */
function expectNotWritten(error: unknown): void {
  if (!(error instanceof NotWritten)) throw error;
}
