import { setImmediate } from 'node:timers/promises';
import { DelayedRun } from '../../common/delayed-run.ts';
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

export class LastUseTracker {
  readonly #options: LastUseTrackerOptions;
  readonly #store: LastUseStore;
  readonly #deprecated = new Map<string, Map<string, number>>();
  readonly #next = new DelayedRun(() => this.#flushNext(), FLUSH_INTERVAL);
  #unsaved = new Map<string, number>();
  #flushing = Promise.resolve();

  constructor(store: LastUseStore, options: LastUseTrackerOptions) {
    this.#store = store;
    this.#options = options;
  }

  note(keyId: string): void {
    this.#unsaved.set(keyId, this.#options.clock());
    this.#next.plan();
  }

  noteDeprecated(keyId: string, operation: string): void {
    let calls = this.#deprecated.get(keyId);
    if (!calls) {
      if (this.#deprecated.size >= MAX_KEYS)
        this.#deprecated.delete(this.#deprecated.keys().next().value!);
      calls = new Map();
      this.#deprecated.set(keyId, calls);
    }
    if (calls.size < MAX_OPERATIONS || calls.has(operation))
      calls.set(operation, this.#options.clock());
  }

  /** Unix milliseconds by operation. */
  deprecatedBy(keyId: string): ReadonlyMap<string, number> {
    const now = this.#options.clock();
    const calls = [...(this.#deprecated.get(keyId) ?? [])];
    return new Map(
      calls.map(([operation, at]) => [operation, notFuture(at, now)]),
    );
  }

  async lastUsed(ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const uses = await this.#store.load(ids);
    for (const id of ids) {
      const at = this.#unsaved.get(id);
      if (at !== undefined) uses.set(id, Math.max(at, uses.get(id) ?? 0));
    }
    return uses;
  }

  /** Batches let requests be served in between. */
  async flush(): Promise<void> {
    const now = this.#options.clock();
    const uses = [...this.#unsaved].map(
      ([id, at]) => [id, notFuture(at, now)] as const,
    );
    this.#unsaved = new Map();
    for (let at = 0; at < uses.length; at += BATCH_SIZE) {
      try {
        const part = new Map(uses.slice(at, at + BATCH_SIZE));
        if (this.#options.onFirstUse)
          await this.#reportFirst(part, this.#options.onFirstUse);
        await this.#store.save(part, now);
      } catch (error) {
        for (const [id, time] of uses.slice(at))
          this.#unsaved.set(id, Math.max(time, this.#unsaved.get(id) ?? 0));
        this.#options.failed(error);
        this.#next.plan();
        return;
      }
      await setImmediate();
    }
  }

  #flushNext(): void {
    this.#flushing = this.#flushing.then(() => this.flush());
  }

  /** Reported before they are stored: a crash in between reports a use twice rather than never. */
  async #reportFirst(
    uses: ReadonlyMap<string, number>,
    first: (keyId: string, at: number) => void,
  ): Promise<void> {
    const before = await this.#store.load([...uses.keys()]);
    for (const [id, at] of uses) if (!before.has(id)) first(id, at);
  }

  async close(): Promise<void> {
    this.#next.close();
    await this.#flushing;
    await this.flush();
  }
}
