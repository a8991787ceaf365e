import { Cache } from '../../common/cache.ts';
import type { Ban } from '../state.ts';
import { mastersOf, walk } from './bulk.ts';
import type { Connection } from './client.ts';
import { COUNTER_KEYS, keyOf, subjectIn } from './key-names.ts';
import { loadScript, runScript } from './scripts.ts';

const SCRIPT = loadScript('banned-1.lua');

/** Names looked at in one step, and bans noted in one. */
const SCAN_COUNT = 1_000;
/** Bans that this process knows to be noted, and bans that wait to be noted. */
const MAX_RECORDED = 20_000;
/** Milliseconds until bans that could not be noted are noted again. */
const RETRY_DELAY = 1_000;

export interface BanListOptions {
  /** The time for the scripts; `''`: Redis's own. */
  readonly clock: () => number | string;
  /** The ban of a subject that is in force. */
  readonly banOf: (subject: string) => Promise<Ban | null>;
}

/**
 * The index of all who are banned, beside their ledgers, because a search through all ledgers takes seconds. A ledger alone
 * says who is banned: what the index holds is asked there.
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

  /** Notes a ban soon, if it is not noted yet. `until` in Unix milliseconds. */
  note(subject: string, until: number): void {
    if (this.#noted.get(subject) === until) return;
    this.#noted.set(subject, until);
    if (this.#open.size === 0) setImmediate(() => void this.#flush());
    this.#open.set(subject, until);
  }

  /** Sends what is to be noted for the last time. */
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
      // No request waits for this. What fits is noted later, the rest when its subject is refused again.
      for (const [subject, until] of open) {
        if (this.#open.size >= MAX_RECORDED) this.#noted.delete(subject);
        else if (!this.#open.has(subject)) this.#open.set(subject, until);
      }
      if (!this.#isClosed) this.#timer = setTimeout(() => void this.#flush(), RETRY_DELAY).unref();
    }
  }

  /** Notes bans at once. Rejects where Redis does not answer. */
  async add(bans: readonly Pick<Ban, 'subject' | 'until'>[]): Promise<void> {
    for (let at = 0; at < bans.length; at += SCAN_COUNT) {
      const step = bans.slice(at, at + SCAN_COUNT).flatMap(({ subject, until }) => [until, subject]);
      await runScript(this.#redis, SCRIPT, [keyOf.bans], [this.#options.clock(), ...step]);
    }
  }

  /** Marks the index of a Redis that holds little as whole, so that its first list takes no walk when it holds much. */
  async markWhole(): Promise<void> {
    if (await this.#redis.exists(keyOf.bansWhole)) return;
    const sizes = await Promise.all(mastersOf(this.#redis).map((node) => node.dbsize()));
    if (sizes.reduce((sum, size) => sum + size, 0) <= SCAN_COUNT) await this.list();
  }

  /** All who are banned. The first time it walks through all ledgers, for bans from before there was an index. */
  async list(): Promise<Ban[]> {
    if (await this.#redis.exists(keyOf.bansWhole)) {
      const subjects = await this.#redis.zrange(keyOf.bans, '0', '-1');
      const bans: Ban[] = [];
      for (let at = 0; at < subjects.length; at += SCAN_COUNT)
        bans.push(...(await this.#among(subjects.slice(at, at + SCAN_COUNT))));
      return bans;
    }
    const bans = await this.#walk();
    await this.add(bans);
    await this.#redis.set(keyOf.bansWhole, '1');
    return bans;
  }

  /** Walks through the ledgers of every master. SCAN may name a ledger twice. */
  async #walk(): Promise<Ban[]> {
    const banned = new Map<string, Ban>();
    for (const node of mastersOf(this.#redis)) {
      for await (const names of walk((cursor) => node.scan(cursor, 'MATCH', COUNTER_KEYS, 'COUNT', SCAN_COUNT)))
        for (const ban of await this.#among(names.map(subjectIn))) banned.set(ban.subject, ban);
    }
    return [...banned.values()];
  }

  async #among(subjects: readonly string[]): Promise<Ban[]> {
    const bans = await Promise.all(subjects.map(this.#options.banOf));
    return bans.filter((ban) => ban !== null);
  }
}
