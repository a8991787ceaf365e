import type { BanEntry, BanRecord } from '@storegate/console';
import { DAY } from '../common/time.ts';
import type { AuditEntry, AuditLog } from '../keys/operators/audit-log.ts';
import { targetIn } from '../keys/subjects.ts';
import type { AdminContext } from './context.ts';
import { time } from './view.ts';

/** Entries read at once. */
const PAGE = 500;
/** Bans of an outage are written when it is over, so entries may stand among younger ones. Milliseconds. */
const OUT_OF_ORDER = DAY;

/** What became of a ban. */
export type BanEnd = NonNullable<BanEntry['ended']>;

/** For how long before now bans are counted where parties are shown, milliseconds. */
const RECENT = 30 * DAY;

type Log = Pick<AuditLog, 'list'>;

/** Actions that begin a ban, or give it another end. */
const BEGINS = ['bans.start', 'bans.add', 'bans.extend'];
const ENDS: Readonly<Record<string, BanEnd['how']>> = {
  'bans.lift': 'lifted',
  'bans.extend': 'extended',
  'bans.add': 'replaced',
  'bans.start': 'replaced',
};

/** The entries from a time on (Unix milliseconds), newest first; only those below a number, if there is one. */
export async function* entriesSince(log: Log, since: number, below?: number): AsyncGenerator<AuditEntry> {
  for (let before = below; ; ) {
    const entries = await log.list({ below: before, limit: PAGE });
    yield* entries.filter(({ at }) => at >= since);
    const oldest = entries.at(-1);
    if (entries.length < PAGE || oldest!.at < since - OUT_OF_ORDER) return;
    before = oldest!.number;
  }
}

/** What became of the bans among these entries, by their numbers; those without an answer are in force, or are no bans. */
export async function endsOf(log: Log, entries: readonly AuditEntry[], now: number): Promise<Map<number, BanEnd>> {
  const bans = entries.filter(({ action }) => BEGINS.includes(action));
  const later = await entriesAbout(log, bans);
  const failed = new Set(later.filter(({ action }) => action.endsWith('.failed')).map(callOf));
  const ends = new Map<number, BanEnd>();
  for (const ban of bans) {
    const until = untilOf(ban);
    const next = later.find(
      (entry) =>
        entry.number > ban.number && ENDS[entry.action] && !failed.has(callOf(entry)) && isOfSameBan(entry, ban),
    );
    if (failed.has(callOf(ban))) ends.set(ban.number, { at: time(ban.at), how: 'failed', by: null });
    else if (next && next.at < until)
      ends.set(ban.number, { at: time(next.at), how: ENDS[next.action]!, by: next.actor });
    else if (until <= now) ends.set(ban.number, { at: time(until), how: 'expired', by: null });
  }
  return ends;
}

/** All entries about the parties of these bans from the oldest of them on, oldest first, as far as they may tell of an end. */
async function entriesAbout(log: Log, bans: readonly AuditEntry[]): Promise<AuditEntry[]> {
  const targets = new Set(bans.map(({ target }) => target));
  const last = Math.max(...bans.map(untilOf)) + OUT_OF_ORDER;
  const found: AuditEntry[] = [];
  for (let above = Math.min(...bans.map(({ number }) => number)) - 1; bans.length > 0; ) {
    const entries = await log.list({ above, limit: PAGE });
    found.push(...entries.filter(({ target }) => targets.has(target)));
    const newest = entries.at(-1);
    if (entries.length < PAGE || newest!.at > last) break;
    above = newest!.number;
  }
  return found;
}

/** What the log says of each party since a time. */
export class RecentBans {
  readonly #entries = new Map<string, AuditEntry[]>();
  readonly #failed = new Set<string>();

  static async since(log: Log, since: number): Promise<RecentBans> {
    const recent = new RecentBans();
    for await (const entry of entriesSince(log, since)) recent.#add(entry);
    return recent;
  }

  /** The last 30 days, or what is kept of them. */
  static async before(now: number, { banLog, config }: Pick<AdminContext, 'banLog' | 'config'>): Promise<RecentBans> {
    return await RecentBans.since(banLog, now - Math.min(RECENT, config().audit.bans.maxAge));
  }

  /** `subject` is a key or an account. */
  of(subject: string): BanRecord {
    const entries = this.#about(subject);
    const pardon = entries.find(({ action }) => action === 'bans.lift');
    return {
      bans: entries.filter(({ action }) => action === 'bans.start' || action === 'bans.add').length,
      lifted: pardon ? { at: time(pardon.at), by: pardon.actor } : null,
    };
  }

  /** Why the ladder gave the ban that ends then; `null`: the log does not say. */
  reasonOf(subject: string, until: number): string | null {
    const begun = this.#about(subject).find((entry) => entry.action === 'bans.start' && untilOf(entry) === until);
    return begun ? (begun.after as { reason: string }).reason : null;
  }

  #add(entry: AuditEntry): void {
    if (entry.action.endsWith('.failed')) this.#failed.add(callOf(entry));
    const entries = this.#entries.get(entry.target);
    if (entries) entries.push(entry);
    else this.#entries.set(entry.target, [entry]);
  }

  #about(subject: string): AuditEntry[] {
    const { target, plan } = targetIn(subject);
    const entries = this.#entries.get(target) ?? [];
    return entries.filter((entry) => !this.#failed.has(callOf(entry)) && (plan === null || planOf(entry) === plan));
  }
}

function isOfSameBan(one: AuditEntry, other: AuditEntry): boolean {
  return one.target === other.target && (one.target.startsWith('key_') || planOf(one) === planOf(other));
}

/** An entry of a change that failed is taken back by another one of the same call. */
function callOf(entry: AuditEntry): string {
  const { requestId, action, target } = entry;
  return JSON.stringify([requestId, action.replace(/\.failed$/, ''), target, planOf(entry)]);
}

function planOf({ after, before }: AuditEntry): string | undefined {
  return (Object(after ?? before) as { plan?: string }).plan;
}

/** Unix milliseconds. */
function untilOf({ after, at }: AuditEntry): number {
  const { until } = Object(after) as { until?: string };
  return until === undefined ? at : Date.parse(until);
}
