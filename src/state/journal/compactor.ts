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
 * removed. `journal` appends to a new file; all needed entries of its older files must be in
 * `living`.
 */
export function createCompactor<V>(
  journal: Journal,
  living: CurrentEntries<V>,
  packer: Packer<V>,
) {
  const beats = new CoalescedWork(() => doBeat().catch(ignoreWriteError));
  const next = new DelayedRun(() => void beats.next(), FLUSH_INTERVAL);
  let marked = new Set<string>();
  let markedEntries: (readonly [name: string, entry: V])[] = [];
  let round = 1;
  /** Totals, for the mean size. */
  const totals = { entries: 0, bytes: 0 };
  /** Entries that the newest file may lack; `null`: it contains everything. */
  let unread: Unread<V> | null =
    journal.older > 0 ? read(living.names()) : null;
  if (unread) next.plan();

  /** Rejects with JournalWriteError. */
  async function flush() {
    await settle(await writeMarked());
  }

  /** The next flush does not wait for the sync of this one; the removal of older files does. */
  async function doBeat() {
    try {
      const finished = await writeMarked();
      const settled = settle(finished);
      if (finished) await settled;
      else settled.catch(ignoreWriteError);
    } finally {
      if (unread) next.plan();
    }
  }

  /** Returns the unchanged entries if this flush wrote the last of them. */
  async function writeMarked(): Promise<Unread<V> | null> {
    const [changed, entries] = [marked, markedEntries];
    marked = new Set();
    markedEntries = [];
    round += 1;
    if (unread === null && isLarge()) {
      journal.begin();
      unread = read(living.names());
    }
    const count = changed.size + entries.length;
    await pack(read(changed), count);
    await pack(readEntries(entries), count);
    const others = unread;
    const areAll =
      others !== null && (await pack(others, Math.max(MIN_REWRITTEN, count)));
    await journal.write();
    return areAll ? others : null;
  }

  async function settle(finished: Unread<V> | null) {
    await journal.commit();
    // Restarted if writes were lost meanwhile.
    if (!finished || finished !== unread) return;
    unread = null;
    await journal.dropOlder();
  }

  function isLarge() {
    const { entries, bytes } = totals;
    const needed = entries === 0 ? 0 : (living.size * bytes) / entries;
    return journal.size > Math.max(FREE_SIZE, MAX_SIZE_FACTOR * needed);
  }

  /** Packs up to `most` entries, yielding to other work. Returns whether none remain. */
  async function pack(entries: Unread<V>, most: number) {
    for (let left = most; left > 0; ) {
      const { packed, isLast } = packSome(entries);
      if (isLast) return true;
      left -= packed;
      await setImmediate();
    }
    return false;
  }

  function packSome(entries: Unread<V>): {
    readonly packed: number;
    readonly isLast: boolean;
  } {
    const end = performance.now() + PACK_TIME;
    const packed: string[] = [];
    for (;;) {
      const group: (readonly [string, V])[] = [];
      const isLast = gather(entries, group);
      for (const [name, entry] of group) {
        packer.add(name, entry);
        packed.push(name);
      }
      if (!isLast && packer.size < BATCH && performance.now() < end) continue;
      if (packed.length > 0) {
        const payload = packer.take();
        totals.entries += packed.length;
        totals.bytes += payload.length;
        journal.push(payload, () => lost(packed));
      }
      return { packed: packed.length, isLast };
    }
  }

  function* read(
    names: Iterable<string>,
  ): Generator<readonly [string, V | undefined]> {
    for (const name of names) yield [name, living.read(name)];
  }

  function* readEntries(
    entries: Entries<V>,
  ): Generator<readonly [string, V | undefined]> {
    for (const each of entries)
      yield living.readEntry
        ? [each[0], living.readEntry(each[0], each[1])]
        : each;
  }

  /** The new file of the journal lacks the content of the failed one. */
  function lost(packed: readonly string[]) {
    for (const name of packed) marked.add(name);
    unread = read(living.names());
    next.plan();
  }

  return {
    mark(name: string) {
      marked.add(name);
      next.plan();
    },
    get beat() {
      return round;
    },
    /** `mark` without a lookup, for callers that have the entry and call once per `beat`. */
    markEntry(name: string, entry: V) {
      markedEntries.push([name, entry]);
      next.plan();
    },
    /** Writes one entry immediately. Rejects with JournalWriteError; the entry is then marked. */
    async write(name: string) {
      packSome(read([name]));
      await journal.commit();
    },
    flush,
    /** Rejects with JournalWriteError. */
    async close() {
      next.close();
      await beats.idle();
      try {
        await flush();
        const finishes =
          living.size <= CLOSE_REWRITES || journal.older >= CLOSE_MAX_FILES;
        while (unread && finishes) await flush();
      } finally {
        await journal.close();
      }
    },
  };
}

export type Compactor<V> = ReturnType<typeof createCompactor<V>>;

/** Moves up to PACK_GROUP entries into `group`. Returns whether none remain. */
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
