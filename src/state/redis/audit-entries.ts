import type { AuditSettings } from '../../config/config.ts';
import { type AuditDraft, type AuditEntry, isOfBans } from '../../keys/operators/audit-log.ts';
import type { Connection } from './client.ts';
import { keyOf } from './key-names.ts';
import { loadScript, runScript } from './scripts.ts';
import { withTimeout } from './timeouts.ts';

const APPEND = loadScript('append-n.lua');
const ENTRIES = loadScript('entries-2.lua');
/** The logs, each by its list and the number of entries that were dropped. */
export const LOGS = {
  audit: [keyOf.audit, keyOf.auditDropped],
  bans: [keyOf.banLog, keyOf.banLogDropped],
} as const;

/** What people did, and all bans. */
export type LogName = keyof typeof LOGS;

/** How many of the newest entries may hold that of an unfinished change. */
const RECENT = '10000';
/** Entries dropped in one step. A longer step would keep requests waiting. */
const DROP_BATCH = 1_000;
/** Milliseconds that many entries together may take. */
const BULK_TIMEOUT = 20_000;

/** A part of a log. */
export interface EntriesPart {
  /** Numbers of the oldest and the newest entry of the whole log; it is empty where the newest comes before the oldest. */
  readonly oldest: number;
  readonly newest: number;
  /** Oldest first. */
  readonly entries: readonly AuditEntry[];
}

/**
 * The entries of a log in Redis: a list. What is appended to the audit log and is about bans is appended to the log of bans in the
 * same step. An entry's number is its place in the list of all that ever were; how many
 * of them were dropped stands beside it.
 */
export class AuditEntries {
  readonly #redis: Connection;
  readonly #settings: AuditSettings;
  readonly #log: LogName;

  constructor(redis: Connection, settings: AuditSettings, log: LogName = 'audit') {
    this.#redis = redis;
    this.#settings = settings;
    this.#log = log;
  }

  async append(entry: AuditDraft): Promise<void> {
    const isInBoth = this.#log === 'audit' && isOfBans(entry);
    await withTimeout(this.#append(entry, isInBoth ? ['audit', 'bans'] : [this.#log]));
  }

  /** Appends many entries in their order, to this log alone. */
  async appendAll(entries: readonly AuditDraft[]): Promise<void> {
    await withTimeout(Promise.all(entries.map((entry) => this.#append(entry, [this.#log]))), BULK_TIMEOUT);
  }

  /** Appends an entry that may be there already. */
  async appendOnce(entry: AuditDraft): Promise<void> {
    const text = JSON.stringify(entry);
    const at = await withTimeout(this.#redis.lpos(LOGS[this.#log][0], text, 'RANK', '-1', 'MAXLEN', RECENT));
    if (at === null) await this.append(entry);
  }

  /** The entries with these numbers, both included, as far as they are there. */
  async read(from: number, to: number): Promise<EntriesPart> {
    const answer = await withTimeout(runScript(this.#redis, ENTRIES, LOGS[this.#log], [from, to]));
    const [oldest, newest, first, ...texts] = answer as [number, number, number, ...string[]];
    const entries = texts.map((text, i) => ({ ...(JSON.parse(text) as AuditDraft), number: first + i }));
    return { oldest, newest, entries };
  }

  #append(entry: AuditDraft, logs: readonly LogName[]): Promise<unknown> {
    const bounds = logs.flatMap((log) => {
      const { maxEntries, bans } = this.#settings;
      return log === 'audit' ? [maxEntries, ''] : [bans.maxEntries, entry.at - bans.maxAge];
    });
    const keys = logs.flatMap((log) => LOGS[log]);
    return runScript(this.#redis, APPEND, keys, [JSON.stringify(entry), DROP_BATCH, ...bounds]);
  }
}
