import { setImmediate } from 'node:timers/promises';
import type { MaybePromise } from '../common/maybe-promise.ts';

/** Stores when keys were last used: Unix milliseconds by key id. The latest time wins. */
export interface LastUseStore {
  save(uses: ReadonlyMap<string, number>): MaybePromise<void>;
  load(ids: readonly string[]): MaybePromise<Map<string, number>>;
}

/** When deprecated operations were last called, Unix milliseconds, by operation. */
export type CallsOfDeprecated = ReadonlyMap<string, number>;

/** Milliseconds between writes. "Last used" may be so much out of date at another gateway, or after a crash. */
const EVERY = 5_000;
/** Keys written at once. */
const AT_ONCE = 500;
/** Keys whose deprecated calls are remembered, and operations for each of them. */
const MOST_KEYS = 10_000;
const MOST_OPERATIONS = 50;

export interface UsesOptions {
  readonly clock: () => number;
  /** Is called when uses could not be stored; they are stored with the next ones. */
  readonly failed: (error: unknown) => void;
  /** Is told of keys that were never used before, perhaps by several processes at once. Absent: nobody wants to know. */
  readonly first?: ((keyId: string, at: number) => void) | null;
}

/** When each key was last used, and which deprecated operations it called. Noting a use costs one map entry. */
export class Uses {
  readonly #store: LastUseStore;
  readonly #clock: () => number;
  readonly #failed: UsesOptions['failed'];
  readonly #first: UsesOptions['first'] | null;
  readonly #deprecated = new Map<string, Map<string, number>>();
  readonly #timer: NodeJS.Timeout;
  #unsaved = new Map<string, number>();
  #flushing = Promise.resolve();

  constructor(store: LastUseStore, { clock, failed, first = null }: UsesOptions) {
    this.#store = store;
    this.#clock = clock;
    this.#failed = failed;
    this.#first = first;
    this.#timer = setInterval(() => {
      this.#flushing = this.#flushing.then(() => this.flush());
    }, EVERY).unref();
  }

  note(keyId: string): void {
    this.#unsaved.set(keyId, this.#clock());
  }

  noteDeprecated(keyId: string, operation: string): void {
    let calls = this.#deprecated.get(keyId);
    if (!calls) {
      if (this.#deprecated.size >= MOST_KEYS) this.#deprecated.delete(this.#deprecated.keys().next().value!);
      calls = new Map();
      this.#deprecated.set(keyId, calls);
    }
    if (calls.size < MOST_OPERATIONS || calls.has(operation)) calls.set(operation, this.#clock());
  }

  /** Deprecated operations that the key called at this gateway since its start, and when it last did. */
  deprecatedBy(keyId: string): CallsOfDeprecated {
    return this.#deprecated.get(keyId) ?? new Map();
  }

  async lastUsed(ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const uses = await this.#store.load(ids);
    for (const id of ids) {
      const at = this.#unsaved.get(id);
      if (at !== undefined) uses.set(id, Math.max(at, uses.get(id) ?? 0));
    }
    return uses;
  }

  /** Stores what was noted since the last time, in parts, so that requests are served in between. */
  async flush(): Promise<void> {
    const uses = [...this.#unsaved];
    this.#unsaved = new Map();
    for (let at = 0; at < uses.length; at += AT_ONCE) {
      try {
        const part = new Map(uses.slice(at, at + AT_ONCE));
        if (this.#first) await this.#tellFirst(part, this.#first);
        await this.#store.save(part);
      } catch (error) {
        for (const [id, time] of uses.slice(at)) this.#unsaved.set(id, Math.max(time, this.#unsaved.get(id) ?? 0));
        this.#failed(error);
        return;
      }
      await setImmediate();
    }
  }

  /** Before they are stored: a crash in between tells a use twice, and never not at all. */
  async #tellFirst(uses: ReadonlyMap<string, number>, first: (keyId: string, at: number) => void): Promise<void> {
    const before = await this.#store.load([...uses.keys()]);
    for (const [id, at] of uses) if (!before.has(id)) first(id, at);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#flushing;
    await this.flush();
  }
}
