import { setImmediate } from 'node:timers/promises';
import { createDelayedRun } from '../../common/delayed-run.ts';
import type { MaybePromise } from '../../common/maybe-promise.ts';
import { notFuture } from '../../common/time.ts';

/** Unix milliseconds by key id. */
export interface LastUseStore {
  /** The latest time wins, but not a stored one after `now` and `CLOCK_SKEW`. */
  save(uses: ReadonlyMap<string, number>, now: number): MaybePromise<void>;
  load(ids: readonly string[]): MaybePromise<Map<string, number>>;
}

/** Milliseconds: the maximum age of "last used" at another gateway or after a crash. */
const FLUSH_INTERVAL = 5_000;
const BATCH_SIZE = 500;
const MAX_KEYS = 10_000;
const MAX_OPERATIONS = 50;

interface LastUseTrackerOptions {
  readonly clock: () => number;
  readonly failed: (error: unknown) => void;
  /** Several processes may report the same key. */
  readonly onFirstUse?: ((keyId: string, at: number) => void) | null;
}

export function createLastUseTracker(
  store: LastUseStore,
  { clock, onFirstUse, failed }: LastUseTrackerOptions,
) {
  const deprecated = new Map<string, Map<string, number>>();
  const next = createDelayedRun(flushNext, FLUSH_INTERVAL);
  let unsaved = new Map<string, number>();
  let flushing = Promise.resolve();

  /** Batches let requests be served in between. */
  async function flush() {
    const now = clock();
    const uses = [...unsaved].map(
      ([id, at]) => [id, notFuture(at, now)] as const,
    );
    unsaved = new Map();
    for (let at = 0; at < uses.length; at += BATCH_SIZE) {
      try {
        const part = new Map(uses.slice(at, at + BATCH_SIZE));
        if (onFirstUse) await reportFirst(part, onFirstUse);
        await store.save(part, now);
      } catch (error) {
        for (const [id, time] of uses.slice(at))
          unsaved.set(id, Math.max(time, unsaved.get(id) ?? 0));
        failed(error);
        next.plan();
        return;
      }
      await setImmediate();
    }
  }

  function flushNext() {
    flushing = flushing.then(flush);
  }

  /** Reported before they are stored: a crash in between reports a use twice rather than never. */
  async function reportFirst(
    uses: ReadonlyMap<string, number>,
    first: (keyId: string, at: number) => void,
  ) {
    const before = await store.load([...uses.keys()]);
    for (const [id, at] of uses) if (!before.has(id)) first(id, at);
  }

  return {
    note(keyId: string) {
      unsaved.set(keyId, clock());
      next.plan();
    },
    noteDeprecated(keyId: string, operation: string) {
      let calls = deprecated.get(keyId);
      if (!calls) {
        if (deprecated.size >= MAX_KEYS)
          deprecated.delete(deprecated.keys().next().value!);
        calls = new Map();
        deprecated.set(keyId, calls);
      }
      if (calls.size < MAX_OPERATIONS || calls.has(operation))
        calls.set(operation, clock());
    },
    /** Unix milliseconds by operation. */
    deprecatedBy(keyId: string): ReadonlyMap<string, number> {
      const now = clock();
      const calls = [...(deprecated.get(keyId) ?? [])];
      return new Map(
        calls.map(([operation, at]) => [operation, notFuture(at, now)]),
      );
    },
    async lastUsed(
      ids: readonly string[],
    ): Promise<ReadonlyMap<string, number>> {
      const uses = await store.load(ids);
      for (const id of ids) {
        const at = unsaved.get(id);
        if (at !== undefined) uses.set(id, Math.max(at, uses.get(id) ?? 0));
      }
      return uses;
    },
    flush,
    async close() {
      next.close();
      await flushing;
      await flush();
    },
  };
}

export type LastUseTracker = ReturnType<typeof createLastUseTracker>;
