import { setImmediate } from 'node:timers/promises';
import type { Eventually } from '../common/eventually.ts';

/** Where it is kept when keys were last used. Unix milliseconds by key id; a later time beats an earlier one. */
export interface LastUseStore {
  save(uses: ReadonlyMap<string, number>): Eventually<void>;
  load(ids: readonly string[]): Eventually<Map<string, number>>;
}

/** When deprecated operations were last called, Unix milliseconds, by operation. */
export type CallsOfDeprecated = ReadonlyMap<string, number>;

/** Milliseconds between writes: so old may the answer to "last used" be at another gateway, or after a crash. */
const EVERY = 5_000;
/** Keys written in one step. */
const AT_ONCE = 500;
/** Keys whose deprecated calls are remembered, and calls per key. */
const MOST_KEYS = 10_000;
const MOST_OPERATIONS = 50;

/** When each key was last used, and which deprecated operations it called lately. Noting costs one entry of a map. */
export class Uses {
  readonly #store: LastUseStore;
  readonly #clock: () => number;
  readonly #failed: (error: unknown) => void;
  readonly #deprecated = new Map<string, Map<string, number>>();
  readonly #timer: NodeJS.Timeout;
  #unsaved = new Map<string, number>();
  #flushing = Promise.resolve();

  /** `failed`: told when what was noted could not be kept; it is tried again. */
  constructor(store: LastUseStore, { clock, failed }: { clock: () => number; failed: (error: unknown) => void }) {
    this.#store = store;
    this.#clock = clock;
    this.#failed = failed;
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

  /** Deprecated operations that the key called at this gateway since it was started, and when it last did. */
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

  /** Writes what was noted since the last time, in parts, so that requests get their turn in between. */
  async flush(): Promise<void> {
    const uses = [...this.#unsaved];
    this.#unsaved = new Map();
    for (let at = 0; at < uses.length; at += AT_ONCE) {
      try {
        await this.#store.save(new Map(uses.slice(at, at + AT_ONCE)));
      } catch (error) {
        for (const [id, time] of uses.slice(at)) this.#unsaved.set(id, Math.max(time, this.#unsaved.get(id) ?? 0));
        this.#failed(error);
        return;
      }
      await setImmediate();
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#flushing;
    await this.flush();
  }
}
