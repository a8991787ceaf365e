import { setImmediate } from 'node:timers/promises';
import type { BanEntry, BanRecord } from '@storegate/admin-api';
import { DAY, SECOND } from '../common/time.ts';
import { targetIn } from '../records/keys/subjects.ts';
import type {
  AuditEntry,
  AuditLog,
  AuditQuery,
} from '../records/operators/audit-log.ts';
import type { AdminContext } from './context.ts';
import { time } from './view.ts';

const PAGE = 500;
/** For one target, whose newest entries matter. */
const PAGE_OF_TARGET = 50;
/** The state has its own clock. */
const CLOCKS_DIFFER = 10 * SECOND;
/** Bans of an outage are written after it, so entries may be out of order. */
const OUT_OF_ORDER = DAY;

type BanEnd = NonNullable<BanEntry['ended']>;

const RECENT = 30 * DAY;

type Log = AuditLog;

const BEGINS = ['bans.start', 'bans.add', 'bans.extend'];
const ENDS: Readonly<Record<string, BanEnd['how']>> = {
  'bans.lift': 'lifted',
  'bans.extend': 'extended',
  'bans.add': 'replaced',
  'bans.start': 'replaced',
};

/** Newest first. `since`: Unix milliseconds. */
export async function* entriesSince(
  log: Log,
  since: number,
  below?: number,
): AsyncGenerator<AuditEntry> {
  for await (const entry of entriesOf(log, { limit: PAGE, below })) {
    if (entry.at >= since) yield entry;
    else if (entry.at < since - OUT_OF_ORDER) return;
  }
}

/** Newest first, with `above` oldest first; read in pages of `limit`, between which others run. */
async function* entriesOf(
  log: Log,
  query: AuditQuery,
): AsyncGenerator<AuditEntry> {
  for (let { below, above } = query; ; ) {
    const entries = await log.list({ ...query, below, above });
    yield* entries;
    await setImmediate();
    if (entries.length < query.limit) return;
    const last = entries.at(-1)!.number;
    if (above === undefined) below = last;
    else above = last;
  }
}

/** By entry number; entries without a value are in force, or are not bans. */
export async function endsOf(
  log: Log,
  entries: readonly AuditEntry[],
  now: number,
): Promise<Map<number, BanEnd>> {
  const bans = entries.filter(({ action }) => BEGINS.includes(action));
  const ends = new Map<number, BanEnd>();
  for (const [target, ofTarget] of Map.groupBy(bans, ({ target }) => target)) {
    const later = await entriesAfter(log, target, ofTarget);
    const failed = failedCalls(later);
    for (const ban of ofTarget) {
      const until = untilOf(ban);
      const next = later.find(
        (entry) =>
          entry.number > ban.number &&
          ENDS[entry.action] &&
          !failed.has(callOf(entry)) &&
          isOfSameBan(entry, ban),
      );
      if (failed.has(callOf(ban)))
        ends.set(ban.number, { at: time(ban.at), how: 'failed', by: null });
      else if (next && next.at < until)
        ends.set(ban.number, {
          at: time(next.at),
          how: ENDS[next.action]!,
          by: next.actor,
        });
      else if (until <= now)
        ends.set(ban.number, { at: time(until), how: 'expired', by: null });
    }
  }
  return ends;
}

/** Oldest first, from the oldest of these bans of `target` on. */
async function entriesAfter(
  log: Log,
  target: string,
  bans: readonly AuditEntry[],
): Promise<AuditEntry[]> {
  const above = Math.min(...bans.map(({ number }) => number)) - 1;
  const last = Math.max(...bans.map(untilOf)) + OUT_OF_ORDER;
  const found: AuditEntry[] = [];
  for await (const entry of entriesOf(log, { target, above, limit: PAGE })) {
    if (entry.at > last) break;
    found.push(entry);
  }
  return found;
}

export type RecentBans = Awaited<ReturnType<typeof recentBansOf>>;

/** Of the last 30 days, or what the log retains. */
export async function recentBansOf(
  subject: string,
  now: number,
  { banLog, config }: Pick<AdminContext, 'banLog' | 'config'>,
) {
  const { target, plan } = targetIn(subject);
  const since = now - Math.min(RECENT, config().audit.bans.maxAge);
  const entries = await Array.fromAsync(
    entriesOf(banLog, { target, since, limit: PAGE }),
  );
  const failed = failedCalls(entries);
  /** Newest first. */
  const own = entries.filter(
    (entry) =>
      !failed.has(callOf(entry)) && (plan === null || planOf(entry) === plan),
  );
  const lifting = own.find(({ action }) => action === 'bans.lift');
  const bans = own.filter(
    ({ action }) => action === 'bans.start' || action === 'bans.add',
  );
  const history: BanRecord = {
    bans: bans.length,
    lifted: lifting ? { at: time(lifting.at), by: lifting.actor } : null,
  };
  return {
    history,
    /** The cause of an automatic ban; `null`: unknown. */
    causeOf(until: number): BanCause | null {
      const begun = own.find(
        (entry) => entry.action === 'bans.start' && untilOf(entry) === until,
      );
      return begun ? (begun.after as unknown as BanCause) : null;
    },
  };
}

/** Subjects whose entries are read in one turn, for which a log in Redis is asked once. */
const AT_ONCE = 50;

export async function eachInTurn<T, R>(
  items: readonly T[],
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  for (let at = 0; at < items.length; at += AT_ONCE) {
    const part = items.slice(at, at + AT_ONCE).map(work);
    results.push(...(await Promise.all(part)));
  }
  return results;
}

/** What the entry of an automatic ban has of it. */
interface BanCause {
  readonly reason: string;
  readonly strikes: number;
  readonly operation: string | null;
}

const failedCalls = (entries: readonly AuditEntry[]) =>
  new Set(
    entries.filter(({ action }) => action.endsWith('.failed')).map(callOf),
  );

function isOfSameBan(one: AuditEntry, other: AuditEntry): boolean {
  return (
    one.target === other.target &&
    (one.target.startsWith('key_') || planOf(one) === planOf(other))
  );
}

/** The entry of a failed change is retracted by another entry of the same call. */
function callOf(entry: AuditEntry): string {
  const { requestId, action, target } = entry;
  return JSON.stringify([
    requestId,
    action.replace(/\.failed$/, ''),
    target,
    planOf(entry),
  ]);
}

function planOf({ after, before }: AuditEntry): string | undefined {
  return (Object(after ?? before) as { plan?: string }).plan;
}

/** Unix milliseconds. */
function untilOf({ after, at }: AuditEntry): number {
  const { until } = Object(after) as { until?: string };
  return until === undefined ? at : Date.parse(until);
}

/**
 * Who added or extended the ban that ends at `until` (Unix milliseconds), and why; `null`:
 * automatic.
 */
export async function banAuthorOf(
  auditLog: Log,
  subject: string,
  until: number,
): Promise<{ by: string; reason: string | null } | null> {
  const { target, plan } = targetIn(subject);
  const failed = new Set<string>();
  for await (const entry of entriesOf(auditLog, {
    target,
    limit: PAGE_OF_TARGET,
  })) {
    const { action, actor, after, requestId } = entry;
    // Bans of an account are distinguished by plan.
    if (plan !== null && planOf(entry) !== plan) continue;
    if (!action.startsWith('bans.')) continue;
    const ban = Object(after) as { until?: string | null; reason?: string };
    if (action.endsWith('.failed')) failed.add(requestId);
    // A matching failed one was made: only its response was lost in an outage.
    else if (
      typeof ban.until === 'string' &&
      Math.abs(Date.parse(ban.until) - until) < CLOCKS_DIFFER
    )
      return { by: actor, reason: ban.reason ?? null };
    else if (!failed.has(requestId)) return null;
  }
  return null;
}
