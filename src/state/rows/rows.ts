import { setImmediate } from 'node:timers/promises';
import { createCoalescedWork } from '../../common/coalesced-work.ts';
import { createDelayedRun } from '../../common/delayed-run.ts';
import type { RowValue } from './row-file.ts';
import { RowWriteError, type RowWriter } from './row-writer.ts';

/** Milliseconds from a change to its write, so a change is on disk well within a second. */
const FLUSH_INTERVAL = 250;
/**
 * Milliseconds of preparing rows before other work gets its turn, and rows prepared between two
 * looks at the clock.
 */
const PREPARE_TIME = 0.3;
const GROUP = 64;

/** The entries in memory. They may change at any time. */
interface RowSource<V> {
  /** `undefined`: its row is removed. */
  read(name: string): V | undefined;
  readonly rowOf: (entry: V, name: string) => RowValue;
  /** Called if rows may be lost, which are then prepared again. */
  readonly lost?: () => void;
}

export interface RowEvents {
  /** Called when writes begin to fail, and when they recover. */
  readonly unsaved?: ((error: unknown) => void) | undefined;
  readonly saved?: (() => void) | undefined;
  /** Called when rows are on disk. */
  readonly stored?: (() => void) | undefined;
}

export type Rows = ReturnType<typeof createRows>;

/** Keeps the marked entries of a map as rows of one kind. */
export function createRows<V>(
  writer: RowWriter,
  kind: string,
  { read, rowOf, lost }: RowSource<V>,
  { unsaved, saved, stored }: RowEvents = {},
) {
  const flushes = createCoalescedWork(flush);
  const next = createDelayedRun(flushNext, FLUSH_INTERVAL);
  let marked = new Set<string>();
  let listed: string[] = [];
  let beat = 1;
  let isFailing = false;

  function flushNext() {
    flushes.next().catch((error: unknown) => {
      if (!(error instanceof RowWriteError)) throw error;
      next.plan();
    });
  }

  /** Rejects with RowWriteError. */
  async function flush() {
    const [set, list] = [marked, listed];
    marked = new Set();
    listed = [];
    beat += 1;
    await prepare(set, set.size);
    await prepare(list, list.length);
    try {
      await settled(writer.commit());
    } catch (error) {
      for (const names of [set, list])
        for (const name of names) marked.add(name);
      lost?.();
      throw error;
    }
  }

  async function settled(work: Promise<void>) {
    try {
      await work;
    } catch (error) {
      if (!isFailing) unsaved?.(error);
      isFailing = true;
      throw error;
    }
    if (isFailing) saved?.();
    isFailing = false;
    stored?.();
  }

  /** Sends rows in parts, so that requests are served in between. */
  async function prepare(names: Iterable<string>, count: number) {
    const iterator = names[Symbol.iterator]();
    for (let remaining = count; remaining > 0; ) {
      const part: string[] = [];
      const values: (RowValue | null)[] = [];
      const end = performance.now() + PREPARE_TIME;
      do {
        for (let i = Math.min(GROUP, remaining); i > 0; i--, remaining--) {
          const name = iterator.next().value as string;
          part.push(name);
          values.push(valueIn(name));
        }
      } while (remaining > 0 && performance.now() < end);
      writer.put(kind, part, values);
      if (remaining > 0) await setImmediate();
    }
  }

  function valueIn(name: string): RowValue | null {
    const entry = read(name);
    return entry === undefined ? null : rowOf(entry, name);
  }

  return {
    mark(name: string) {
      marked.add(name);
      next.plan();
    },
    /** Changes with each flush. */
    get beat() {
      return beat;
    },
    /** `mark` without a look-up, for callers that call once per `beat`. */
    markOnce(name: string) {
      listed.push(name);
      next.plan();
    },
    /** Writes one row immediately. Rejects with RowWriteError: the row on disk is as before. */
    async write(name: string) {
      try {
        await settled(writer.write(kind, new Map([[name, valueIn(name)]])));
      } catch (error) {
        // Its caller takes the change back, which may have been sent with other rows meanwhile.
        marked.add(name);
        next.plan();
        throw error;
      }
    },
    flush: () => flushes.next(),
    /** Rejects with RowWriteError. */
    async close() {
      next.close();
      await flushes.next();
    },
  };
}
