import type { AuditSettings } from '../../config/config.ts';
import type { Connection } from '../../state/redis/client.ts';
import { keyOf } from '../../state/redis/key-names.ts';
import { loadScript } from '../../state/redis/scripts.ts';
import { withTimeout } from '../../state/redis/timeouts.ts';
import {
  type AuditDraft,
  type AuditEntry,
  isOfBans,
} from '../operators/audit-log.ts';

const appendTo = loadScript('append-n.lua');
const entriesBetween = loadScript('entries-2.lua');
export const LOGS = {
  audit: [keyOf.audit, keyOf.auditDropped],
  bans: [keyOf.banLog, keyOf.banLogDropped],
} as const;

/** `audit`: actions of operators; `bans`: all bans. */
export type LogName = keyof typeof LOGS;

/** Newest entries searched for an unfinished change. */
const RECENT = '10000';
/** A longer step would delay requests. */
const DROP_BATCH = 1_000;

export type AuditEntries = ReturnType<typeof auditEntriesIn>;

/** Bans in the audit log are appended to the log of bans in the same step. */
export function auditEntriesIn(
  redis: Connection,
  { maxEntries, bans }: AuditSettings,
  log: LogName = 'audit',
) {
  function run(entry: AuditDraft, logs: readonly LogName[]): Promise<unknown> {
    const bounds = logs.flatMap((log) =>
      log === 'audit' ? [maxEntries, ''] : [bans.maxEntries, bans.maxAge],
    );
    const keys = logs.flatMap((log) => LOGS[log]);
    return appendTo(redis, keys, [
      JSON.stringify(entry),
      DROP_BATCH,
      ...bounds,
    ]);
  }

  async function append(entry: AuditDraft) {
    await withTimeout(
      run(
        entry,
        log === 'audit' && isOfBans(entry) ? ['audit', 'bans'] : [log],
      ),
    );
  }

  return {
    append,
    async appendOnce(entry: AuditDraft) {
      const text = JSON.stringify(entry);
      const at = await withTimeout(
        redis.lpos(LOGS[log][0], text, 'RANK', '-1', 'MAXLEN', RECENT),
      );
      if (at === null) await append(entry);
    },
    read: (from: number, to: number) => readEntries(redis, log, from, to),
  };
}

/**
 * The entries from `from` to `to`, oldest first, and the oldest and newest number in the whole log,
 * which is empty if `newest` is less than `oldest`. An entry's number is its list position plus the
 * number of dropped entries.
 */
export async function readEntries(
  redis: Connection,
  log: LogName,
  from: number,
  to: number,
) {
  const answer = await withTimeout(
    entriesBetween(redis, LOGS[log], [from, to]),
  );
  const [oldest, newest, first, ...texts] = answer as [
    number,
    number,
    number,
    ...string[],
  ];
  const entries: AuditEntry[] = texts.map((text, i) => ({
    ...(JSON.parse(text) as AuditDraft),
    number: first + i,
  }));
  return { oldest, newest, entries };
}
