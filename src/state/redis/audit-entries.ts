import type { AuditDraft, AuditEntry } from '../../operators/audit-log.ts';
import { asked } from './asking.ts';
import type { Connection } from './client.ts';
import { keyOf } from './key-names.ts';
import { loadScript, runScript } from './scripts.ts';

const APPEND = loadScript('append-2.lua');
const ENTRIES = loadScript('entries-2.lua');
const KEYS = [keyOf.audit, keyOf.auditDropped];

/** How many of the newest entries may hold that of an unfinished change. */
const RECENT = '10000';
/** Entries dropped in one step. A longer step would keep requests waiting. */
const DROPPED_AT_ONCE = 1_000;
/** Milliseconds that many entries together may take. */
const MANY = 20_000;

/** A part of the audit log. */
export interface EntriesPart {
  /** Numbers of the oldest and the newest entry of the whole log; it is empty where the newest comes before the oldest. */
  readonly oldest: number;
  readonly newest: number;
  /** Oldest first. */
  readonly entries: readonly AuditEntry[];
}

/**
 * The entries of the audit log in Redis: a list. An entry's number is its place in the list of all that ever were; how many
 * of them were dropped stands beside it.
 */
export class AuditEntries {
  readonly #redis: Connection;
  readonly #keep: number;

  /** `keep`: of more entries than that, the oldest go. */
  constructor(redis: Connection, keep: number) {
    this.#redis = redis;
    this.#keep = keep;
  }

  async append(entry: AuditDraft): Promise<void> {
    await asked(runScript(this.#redis, APPEND, KEYS, [JSON.stringify(entry), this.#keep, DROPPED_AT_ONCE]));
  }

  /** Appends many entries in their order. */
  async appendAll(entries: readonly AuditDraft[]): Promise<void> {
    const appended = entries.map((entry) =>
      runScript(this.#redis, APPEND, KEYS, [JSON.stringify(entry), this.#keep, DROPPED_AT_ONCE]),
    );
    await asked(Promise.all(appended), MANY);
  }

  /** Appends an entry that may be there already. */
  async appendOnce(entry: AuditDraft): Promise<void> {
    const text = JSON.stringify(entry);
    const at = await asked(this.#redis.lpos(keyOf.audit, text, 'RANK', '-1', 'MAXLEN', RECENT));
    if (at === null) await this.append(entry);
  }

  /** The entries with these numbers, both included, as far as they are there. */
  async read(from: number, to: number): Promise<EntriesPart> {
    const answer = await asked(runScript(this.#redis, ENTRIES, KEYS, [from, to]));
    const [oldest, newest, first, ...texts] = answer as [number, number, number, ...string[]];
    const entries = texts.map((text, i) => ({ ...(JSON.parse(text) as AuditDraft), number: first + i }));
    return { oldest, newest, entries };
  }
}
