import { setImmediate } from 'node:timers/promises';
import { type Journal, NotWritten } from './journal.ts';

/** What is kept: the entries that are in memory now. Names and entries may change at any time. */
export interface Living<V> {
  readonly size: number;
  names(): Iterable<string>;
  /** The entry as it is to be written; `undefined`: there is none. */
  read(name: string): V | undefined;
}

/** Turns entries into the payload of a batch. */
export interface Packer<V> {
  add(name: string, entry: V): void;
  /** Bytes of what was added since the last `take`. */
  readonly size: number;
  /** The payload of what was added. */
  take(): Buffer;
}

/** Milliseconds between two writes. With the time that a write takes, a change is on disk within a second. */
const BEAT = 500;
/** Milliseconds of packing before other work gets its turn, and how many entries are packed between two looks at the clock. */
const SLICE = 0.3;
const STEP = 16;
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
export class Keeper<V> {
  readonly #journal: Journal;
  readonly #living: Living<V>;
  readonly #packer: Packer<V>;
  readonly #timer: NodeJS.Timeout;
  #changed = new Set<string>();
  /** Those that the newest file may not have yet; `null` while it holds everything that the older ones do. */
  #others: Iterator<string> | null;
  #beating: Promise<void> | null = null;
  #isLate = false;
  /** Of all that was ever packed, for the mean. */
  #packed = { entries: 0, bytes: 0 };

  /** `journal` appends to a new file; the entries of its older ones are in `living` by now, or needed no more. */
  constructor(journal: Journal, living: Living<V>, packer: Packer<V>) {
    this.#journal = journal;
    this.#living = living;
    this.#packer = packer;
    this.#others = journal.older > 0 ? namesOf(living) : null;
    this.#timer = setInterval(() => this.#tick(), BEAT).unref();
  }

  /** Has the entry written with the next beat. */
  mark(name: string): void {
    this.#changed.add(name);
  }

  /** Writes one entry at once. Rejects with NotWritten; then it stays marked. */
  async write(name: string): Promise<void> {
    this.#packSome([name].values());
    await this.#journal.commit();
  }

  /** Writes what has changed, and a part of the others while a new file is to hold all. Rejects with NotWritten. */
  async flush(): Promise<void> {
    const changed = this.#changed;
    this.#changed = new Set();
    if (this.#others === null && this.#isLarge) this.#beginAnew();
    await this.#pack(changed.values(), changed.size);
    const others = this.#others;
    const wereAll = others !== null && (await this.#pack(others, Math.max(OTHERS, changed.size)));
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
    this.#others = namesOf(this.#living);
  }

  /** Packs up to `most` entries, in turns. Answers whether no name is left. */
  async #pack(names: Iterator<string>, most: number): Promise<boolean> {
    for (let left = most; left > 0; ) {
      const seen = this.#packSome(names);
      if (seen === null) return true;
      left -= seen;
      await setImmediate();
    }
    return false;
  }

  /** Packs entries for a moment, into one batch. Answers how many names it has seen; `null`: no name is left. */
  #packSome(names: Iterator<string>): number | null {
    const end = performance.now() + SLICE;
    const packed: string[] = [];
    let seen = 0;
    let next = names.next();
    for (; !next.done; next = names.next()) {
      const entry = this.#living.read(next.value);
      if (entry !== undefined) {
        this.#packer.add(next.value, entry);
        packed.push(next.value);
      }
      seen += 1;
      if (this.#packer.size >= BATCH || (seen % STEP === 0 && performance.now() > end)) break;
    }
    if (packed.length > 0) this.#push(packed);
    return next.done ? null : seen;
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
    this.#others = namesOf(this.#living);
  }
}

function namesOf({ names }: Living<unknown>): Iterator<string> {
  return names()[Symbol.iterator]();
}

/** The journal has told it, and what is lost is marked again. Anything else is a bug. */
function expectNotWritten(error: unknown): void {
  if (!(error instanceof NotWritten)) throw error;
}
