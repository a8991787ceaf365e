import { Cache } from '../../common/cache.ts';
import type { Ban } from '../state.ts';
import { countedSubjects, mastersOf } from './bulk.ts';
import type { Connection } from './client.ts';
import { keyOf } from './key-names.ts';
import { loadScript, runScript } from './scripts.ts';

const SCRIPT = loadScript('banned-1.lua');

/** Bans in one step. */
const BATCH = 1_000;
/** Maximum bans remembered as indexed, and maximum queued bans. */
const MAX_RECORDED = 20_000;
/** Milliseconds. */
const RETRY_DELAY = 1_000;

export interface BanListOptions {
  /** `''`: the clock of Redis. */
  readonly clock: () => number | string;
  readonly banOf: (subject: string) => Promise<Ban | null>;
}

/**
 * Index of banned subjects, because a scan of all counters takes seconds. Only the counters are authoritative, so each
 * indexed ban is checked there.
 */
export class BanList {
  readonly #redis: Connection;
  readonly #options: BanListOptions;
  readonly #noted = new Cache<number>(MAX_RECORDED);
  #open = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(redis: Connection, options: BanListOptions) {
    this.#redis = redis;
    this.#options = options;
  }

  /** Queues a ban for the index. `until` in Unix milliseconds. */
  note(subject: string, until: number): void {
    if (this.#noted.get(subject) === until) return;
    this.#noted.set(subject, until);
    if (this.#open.size === 0) setImmediate(() => void this.#flush());
    this.#open.set(subject, until);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#flush();
  }

  async #flush(): Promise<void> {
    clearTimeout(this.#timer);
    const open = this.#open;
    this.#open = new Map();
    try {
      await this.add([...open].map(([subject, until]) => ({ subject, until })));
    } catch {
      // Bans that fit in the queue are retried, others when their subject is refused again.
      for (const [subject, until] of open) {
        if (this.#open.size >= MAX_RECORDED) this.#noted.delete(subject);
        else if (!this.#open.has(subject)) this.#open.set(subject, until);
      }
      if (!this.#isClosed) this.#timer = setTimeout(() => void this.#flush(), RETRY_DELAY).unref();
    }
  }

  /** Rejects if Redis does not respond. */
  async add(bans: readonly Pick<Ban, 'subject' | 'until'>[]): Promise<void> {
    for (let at = 0; at < bans.length; at += BATCH) {
      const step = bans.slice(at, at + BATCH).flatMap(({ subject, until }) => [until, subject]);
      await runScript(this.#redis, SCRIPT, [keyOf.bans], [this.#options.clock(), ...step]);
    }
  }

  /** Marks the index of a nearly empty Redis as complete, so that the first list needs no scan later. */
  async markWhole(): Promise<void> {
    if (await this.#redis.exists(keyOf.bansWhole)) return;
    const sizes = await Promise.all(mastersOf(this.#redis).map((node) => node.dbsize()));
    if (sizes.reduce((sum, size) => sum + size, 0) <= BATCH) await this.list();
  }

  /** The first call scans all counters, for bans older than the index. */
  async list(): Promise<Ban[]> {
    if (await this.#redis.exists(keyOf.bansWhole)) {
      const subjects = await this.#redis.zrange(keyOf.bans, '0', '-1');
      const bans: Ban[] = [];
      for (let at = 0; at < subjects.length; at += BATCH)
        bans.push(...(await this.#among(subjects.slice(at, at + BATCH))));
      return bans;
    }
    const bans = await this.#walk();
    await this.add(bans);
    await this.#redis.set(keyOf.bansWhole, '1');
    return bans;
  }

  /** SCAN may return a name twice. */
  async #walk(): Promise<Ban[]> {
    const banned = new Map<string, Ban>();
    for await (const subjects of countedSubjects(this.#redis))
      for (const ban of await this.#among(subjects)) banned.set(ban.subject, ban);
    return [...banned.values()];
  }

  async #among(subjects: readonly string[]): Promise<Ban[]> {
    const bans = await Promise.all(subjects.map(this.#options.banOf));
    return bans.filter((ban) => ban !== null);
  }
}
