import { createHash } from 'node:crypto';
import { Cache } from '../common/cache.ts';
import { WriteBehind } from '../common/write-behind.ts';
import { formatDuration } from '../config/units.ts';
import { formatLimit } from '../config/windows.ts';
import { Outage } from '../errors/outage.ts';
import { type AuditDraft, type AuditLog, IdempotencyConflict } from '../keys/operators/audit-log.ts';
import { targetIn } from '../keys/subjects.ts';
import { durationAtLevel } from '../limits/ban-escalation.ts';
import type { LastStrike, ReportedBan } from '../observe/events.ts';
import type { StartedBan } from './state.ts';

/** Bans that wait to be written; later ones are dropped, and told. */
const MAX_QUEUE = 10_000;
/** Milliseconds between two entries, so that a flood of bans costs requests and state little. */
const WRITE_INTERVAL = 5;
/** Milliseconds that a stop may take for what waits: whoever stops the gateway kills it after a while. */
const CLOSE_TIMEOUT = 2_000;
/** Subjects whose last strike is remembered, for bans of which nobody knows yet which request they began with. */
const MAX_LAST_STRIKES = 5_000;

/** Who names bans of the ladder in the log of bans. */
const ESCALATION_ACTOR = 'storegate';

export interface BanRecorderOptions {
  readonly log: Pick<AuditLog, 'append' | 'answered'>;
  /** Whether the state tells of bans that no answer tells of. */
  readonly reportsLateBans: boolean;
  /** Unix milliseconds. */
  readonly clock: () => number;
  /** Is told of bans that will never be in the log: there were too many at once, or the gateway stopped. */
  readonly dropped: (count: number) => void;
  readonly failed: (error: unknown) => void;
  /** Is told of each ban that is to be written. */
  readonly begun?: (ban: ReportedBan, strike: LastStrike | null) => void;
}

interface PendingEntry {
  readonly ban: StartedBan;
  readonly strike: LastStrike | null;
}

/**
 * Writes bans of the ladder into the log of bans, behind the requests: one after the other, and no more than 200 a second. While the state is away they wait. Each is there once, however often and by how many gateways
 * it is told: its name is made of subject and end.
 */
export class BanRecorder {
  readonly #options: BanRecorderOptions;
  readonly #struck = new Cache<LastStrike>(MAX_LAST_STRIKES);
  readonly #queue: WriteBehind<PendingEntry>;

  constructor(options: BanRecorderOptions) {
    this.#options = options;
    const { dropped: lost } = options;
    this.#queue = new WriteBehind({
      write: (one) => this.#take(one),
      maxItems: MAX_QUEUE,
      batchSize: 1,
      pause: WRITE_INTERVAL,
      onDropped: lost,
    });
  }

  /** Remembers the last strike of a subject, where the state may tell later that a ban began with it. */
  note(subject: string, plan: string, operation: string | null, requestId: string): void {
    if (this.#options.reportsLateBans) this.#struck.set(subject, { plan, operation, requestId });
  }

  /** Has a ban written. Without `strike`, the one that was noted last began it. */
  begun(ban: StartedBan, strike: LastStrike | null = this.#struck.peek(ban.subject) ?? null): void {
    if (!this.#queue.add({ ban, strike })) return;
    this.#options.begun?.({ ...ban, at: beginOf(ban), strikes: ban.limits.escalation!.strikes }, strike);
  }

  /** Writes what waits, as far as the state takes it and in `LAST`. */
  close(): Promise<void> {
    return this.#queue.close(CLOSE_TIMEOUT);
  }

  /** Answers whether this entry is done with. */
  async #take({ ban, strike }: PendingEntry): Promise<boolean> {
    const { log, clock, failed } = this.#options;
    const [name, entry] = [nameOf(ban), entryOf(ban, strike)];
    try {
      await log.append({ entry, idempotent: { name, question: '', sealed: '' } });
    } catch (error) {
      if (error instanceof Outage) return false;
      if (!(error instanceof IdempotencyConflict)) failed(error);
      // Another writer of it may have died half-way: to ask finishes what it began.
      else return await this.#finish(() => log.answered(name, clock()));
    }
    return true;
  }

  async #finish(ask: () => unknown): Promise<boolean> {
    try {
      await ask();
    } catch (error) {
      if (error instanceof Outage) return false;
      this.#options.failed(error);
    }
    return true;
  }
}

function nameOf({ subject, until }: StartedBan): string {
  return createHash('sha256').update(`ban ${subject} ${until}`).digest('base64url');
}

function entryOf({ subject, limits, until, rung, violated }: StartedBan, strike: LastStrike | null): AuditDraft {
  const escalation = limits.escalation!;
  const { target, plan: planOfAccount } = targetIn(subject);
  const plan = planOfAccount ?? strike?.plan ?? null;
  const limit = violated && formatLimit(violated);
  const operation = strike?.operation ?? null;
  const reason = [
    `sent ${escalation.strikes} more requests within ${formatDuration(escalation.window)} after ${limit ?? 'a limit'} was used up`,
    ...(operation === null ? [] : [`the last of them ${operation}`]),
  ].join(', ');
  return {
    at: beginOf({ until, limits, rung }),
    actor: ESCALATION_ACTOR,
    action: 'bans.start',
    target,
    before: { plan, until: null },
    after: { plan, until: new Date(until).toISOString(), reason, limit, strikes: escalation.strikes, operation, rung },
    requestId: strike?.requestId ?? '',
  };
}

const beginOf = ({ until, limits, rung }: Pick<StartedBan, 'until' | 'limits' | 'rung'>): number =>
  until - durationAtLevel(limits.escalation!, rung - 1);
