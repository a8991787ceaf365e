import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { Cache } from '../common/cache.ts';
import { formatDuration } from '../config/units.ts';
import { formatLimit } from '../config/windows.ts';
import { Outage } from '../errors/outage.ts';
import { targetIn } from '../keys/counting.ts';
import { type AuditDraft, type AuditLog, IdempotencyConflict } from '../keys/operators/audit-log.ts';
import { lengthOnRung } from '../limits/ladder.ts';
import type { LastStrike, TellableBan } from '../observe/events.ts';
import type { BegunBan } from './state.ts';

/** Bans that wait to be written; later ones are dropped, and told. */
const MOST = 10_000;
/** Milliseconds between two entries, so that a flood of bans costs requests and state little. */
const PACE = 5;
/** Milliseconds until a state that did not take an entry is tried again. */
const AGAIN = 1_000;
/** Milliseconds that a stop may take for what waits: whoever stops the gateway kills it after a while. */
const LAST = 2_000;
/** Subjects whose last strike is remembered, for bans of which nobody knows yet which request they began with. */
const STRUCK = 5_000;

/** Who names bans of the ladder in the log of bans. */
const LADDER_ACTOR = 'storegate';

export interface BanRecorderOptions {
  readonly log: Pick<AuditLog, 'append' | 'answered'>;
  /** Whether the state tells of bans that no answer tells of. */
  readonly toldLater: boolean;
  /** Unix milliseconds. */
  readonly clock: () => number;
  /** Is told of bans that will never be in the log: there were too many at once, or the gateway stopped. */
  readonly dropped: (count: number) => void;
  readonly failed: (error: unknown) => void;
  /** Is told of each ban that is to be written. */
  readonly begun?: (ban: TellableBan, strike: LastStrike | null) => void;
}

/**
 * Writes bans of the ladder into the log of bans, behind the requests: one after the other, and no more than 200 a second. While the state is away they wait. Each is there once, however often and by how many gateways
 * it is told: its name is made of subject and end.
 */
export class BanRecorder {
  readonly #options: BanRecorderOptions;
  readonly #struck = new Cache<LastStrike>(STRUCK);
  readonly #waiting: { readonly name: string; readonly entry: AuditDraft }[] = [];
  #writing: Promise<void> | null = null;
  #wake = () => {};
  #dropped = 0;
  #isFull = false;
  /** When a gateway that stops gives up, on the clock of `performance.now()`; Infinity while it runs. */
  #giveUpAt = Number.POSITIVE_INFINITY;

  constructor(options: BanRecorderOptions) {
    this.#options = options;
  }

  /** Remembers the last strike of a subject, where the state may tell later that a ban began with it. */
  note(subject: string, plan: string, operation: string | null, requestId: string): void {
    if (this.#options.toldLater) this.#struck.set(subject, { plan, operation, requestId });
  }

  get #isClosed(): boolean {
    return this.#giveUpAt < Number.POSITIVE_INFINITY;
  }

  /** Has a ban written. Without `strike`, the one that was noted last began it. */
  begun(ban: BegunBan, strike: LastStrike | null = this.#struck.peek(ban.subject) ?? null): void {
    if (this.#waiting.length >= MOST || this.#isClosed) {
      this.#dropped += 1;
      // The first one at once, the others together when there is room again.
      if (!this.#isFull) this.#tellDropped();
      this.#isFull = !this.#isClosed;
      return;
    }
    this.#waiting.push({ name: nameOf(ban), entry: entryOf(ban, strike) });
    this.#options.begun?.({ ...ban, at: beginOf(ban), strikes: ban.limits.ladder!.strikes }, strike);
    this.#writing ??= this.#write();
  }

  /** Writes what waits, as far as the state takes it and in `LAST`. */
  async close(): Promise<void> {
    if (!this.#isClosed) this.#giveUpAt = performance.now() + LAST;
    this.#wake();
    await this.#writing;
    this.#dropped += this.#waiting.length;
    this.#waiting.length = 0;
    this.#isFull = false;
    this.#tellDropped();
  }

  async #write(): Promise<void> {
    // The embedded file is written on this thread: the request that began the ban is answered first.
    await setImmediate();
    while (this.#waiting.length > 0) {
      const isDone = await this.#take(this.#waiting[0]!);
      if (isDone) this.#waiting.shift();
      if (this.#isClosed && (!isDone || performance.now() > this.#giveUpAt)) return;
      if (this.#waiting.length > 0 && !this.#isClosed) await this.#pause(isDone ? PACE : AGAIN);
    }
    this.#writing = null;
    this.#isFull = false;
    this.#tellDropped();
  }

  /** Answers whether this entry is done with. */
  async #take({ name, entry }: { readonly name: string; readonly entry: AuditDraft }): Promise<boolean> {
    const { log, clock, failed } = this.#options;
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

  /** `close` ends it. */
  #pause(length: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, length).unref();
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #tellDropped(): void {
    if (this.#dropped > 0) this.#options.dropped(this.#dropped);
    this.#dropped = 0;
  }
}

function nameOf({ subject, until }: BegunBan): string {
  return createHash('sha256').update(`ban ${subject} ${until}`).digest('base64url');
}

function entryOf({ subject, limits, until, rung, violated }: BegunBan, strike: LastStrike | null): AuditDraft {
  const ladder = limits.ladder!;
  const { target, plan: planOfAccount } = targetIn(subject);
  const plan = planOfAccount ?? strike?.plan ?? null;
  const limit = violated && formatLimit(violated);
  const operation = strike?.operation ?? null;
  const reason = [
    `sent ${ladder.strikes} more requests within ${formatDuration(ladder.within)} after ${limit ?? 'a limit'} was used up`,
    ...(operation === null ? [] : [`the last of them ${operation}`]),
  ].join(', ');
  return {
    at: beginOf({ until, limits, rung }),
    actor: LADDER_ACTOR,
    action: 'bans.begin',
    target,
    before: { plan, until: null },
    after: { plan, until: new Date(until).toISOString(), reason, limit, strikes: ladder.strikes, operation, rung },
    requestId: strike?.requestId ?? '',
  };
}

const beginOf = ({ until, limits, rung }: Pick<BegunBan, 'until' | 'limits' | 'rung'>): number =>
  until - lengthOnRung(limits.ladder!, rung - 1);
