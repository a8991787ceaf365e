import { createHash } from 'node:crypto';
import { limitText } from '@storegate/admin-api/text';
import { createCache } from '../common/cache.ts';
import { Outage } from '../common/errors/outage.ts';
import { createWriteBehind } from '../common/write-behind.ts';
import { formatDuration } from '../config/units.ts';
import { formatLimit } from '../config/windows.ts';
import { durationAtLevel } from '../limits/ban-escalation.ts';
import type { LastStrike, ReportedBan } from '../observe/events.ts';
import type { StartedBan } from '../state/state.ts';
import { targetIn } from './keys/subjects.ts';
import {
  type AuditDraft,
  type AuditLog,
  IdempotencyConflict,
} from './operators/audit-log.ts';

/** Maximum number of pending bans; more are dropped and reported. */
const MAX_QUEUE = 10_000;
/** Milliseconds between two entries, so that a flood of bans costs little. */
const WRITE_INTERVAL = 5;
/** Milliseconds that `close` may take, before a supervisor kills the process. */
const CLOSE_TIMEOUT = 2_000;
/** Subjects whose last strike is kept, for bans that are reported without their request. */
const MAX_LAST_STRIKES = 5_000;

const ESCALATION_ACTOR = 'storegate';

interface BanRecorderOptions {
  readonly log: Pick<AuditLog, 'append'>;
  /** Whether the state reports some bans separately from responses. */
  readonly reportsLateBans: boolean;
  /** Called with bans that are never logged, because of a full queue or a stop. */
  readonly dropped: (count: number) => void;
  readonly failed: (error: unknown) => void;
  readonly begun?: (ban: ReportedBan, strike: LastStrike | null) => void;
}

interface PendingEntry {
  readonly ban: StartedBan;
  readonly strike: LastStrike | null;
}

/**
 * Writes escalation bans to the ban log in the background and waits while the state is down. Entry
 * names consist of subject and end, so repeated reports make one entry.
 */
export function createBanRecorder({
  log,
  failed,
  dropped,
  reportsLateBans,
  begun,
}: BanRecorderOptions) {
  const struck = createCache<LastStrike>(MAX_LAST_STRIKES);

  const queue = createWriteBehind<PendingEntry>({
    write: take,
    maxItems: MAX_QUEUE,
    batchSize: 1,
    pause: WRITE_INTERVAL,
    onDropped: dropped,
  });

  /** Returns whether this entry is finished. */
  async function take({ ban, strike }: PendingEntry) {
    const [name, entry] = [nameOf(ban), entryOf(ban, strike)];
    try {
      await log.append({
        entry,
        idempotent: { name, question: '', sealed: '' },
      });
    } catch (error) {
      if (error instanceof Outage) return false;
      // Another report of the same ban has written it.
      if (!(error instanceof IdempotencyConflict)) failed(error);
    }
    return true;
  }

  return {
    /** Keeps the last strike for a later report of a ban. */
    note(
      subject: string,
      plan: string,
      operation: string | null,
      requestId: string,
    ) {
      if (reportsLateBans) struck.set(subject, { plan, operation, requestId });
    },
    /** Queues a ban. Without `strike`, the last noted strike is its cause. */
    begun(
      ban: StartedBan,
      strike: LastStrike | null = struck.peek(ban.subject) ?? null,
    ) {
      if (!queue.add({ ban, strike })) return;
      begun?.(
        { ...ban, at: beginOf(ban), strikes: ban.limits.escalation!.strikes },
        strike,
      );
    },
    close() {
      return queue.close(CLOSE_TIMEOUT);
    },
  };
}

export type BanRecorder = ReturnType<typeof createBanRecorder>;

function nameOf({ subject, until }: StartedBan): string {
  return createHash('sha256')
    .update(`ban ${subject} ${until}`)
    .digest('base64url');
}

function entryOf(
  { subject, limits, until, level, violated }: StartedBan,
  strike: LastStrike | null,
): AuditDraft {
  const { strikes, window } = limits.escalation!;
  const { target, plan: planOfAccount } = targetIn(subject);
  const plan = planOfAccount ?? strike?.plan ?? null;
  const limit = violated && formatLimit(violated);
  const operation = strike?.operation ?? null;
  const usedUp =
    limit === null ? 'a limit' : `the limit of ${limitText(limit)}`;
  const reason = [
    `sent ${strikes} more requests within ${formatDuration(window)} after ${usedUp} was used up`,
    ...(operation === null ? [] : [`the last of them ${operation}`]),
  ].join(', ');
  return {
    at: beginOf({ until, limits, level }),
    actor: ESCALATION_ACTOR,
    action: 'bans.start',
    target,
    before: { plan, until: null },
    after: {
      plan,
      until: new Date(until).toISOString(),
      reason,
      limit,
      strikes,
      operation,
      level,
    },
    reason,
    requestId: strike?.requestId ?? '',
  };
}

const beginOf = ({
  until,
  limits,
  level,
}: Pick<StartedBan, 'until' | 'limits' | 'level'>): number =>
  until - durationAtLevel(limits.escalation!, level - 1);
