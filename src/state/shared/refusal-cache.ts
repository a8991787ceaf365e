import { Cache } from '../../common/cache.ts';
import type { Admission } from '../../limits/admission.ts';
import type { Limits, Window } from '../../limits/limits.ts';
import type { Scopes } from '../../limits/scopes.ts';
import { type CachedRefusal, partialResets, repeatRefusal, stillRefuses, withReadings } from './cached-refusal.ts';

/** Refusals of one subject that the backend has yet to hear of. Unix milliseconds by its clock, oldest first. */
export interface Strikes {
  readonly subject: string;
  readonly limits: Limits;
  readonly times: readonly number[];
  /** The limit that refused last; `null`: not known. All of them were refused by windows of one scope, or by own ones. */
  readonly violated: Window | null;
}

/** Strikes of one subject by the windows of one scope. */
interface PendingStrikes {
  limits: Limits;
  times: number[];
  violated: Window | null;
}

export interface RefusalCacheOptions {
  /** The backend's clock as far as it is known here, Unix milliseconds. */
  readonly clock: () => number;
  /** Milliseconds after which the backend is asked again, whatever is remembered: a message may have been lost. */
  readonly ttl: number;
  /** How many subjects are remembered: at least so many, at most twice as many. */
  readonly size?: number;
}

/**
 * Subjects that are known to be refused, and answered without asking the backend. This only ever refuses, and only what the
 * backend would refuse too; it leaves every other request to the backend. It gathers strikes to be sent on.
 */
export class RefusalCache {
  readonly #clock: () => number;
  readonly #keepFor: number;
  readonly #entries: Cache<CachedRefusal>;
  readonly #strikes = new Map<string, PendingStrikes[]>();
  #changes = 0;

  constructor({ clock, ttl: keepFor, size = 50_000 }: RefusalCacheOptions) {
    this.#clock = clock;
    this.#keepFor = keepFor;
    this.#entries = new Cache(size);
  }

  /** Take this before you ask the backend and give it to `remember`: an answer older than a change is not kept. */
  get changes(): number {
    return this.#changes;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** The refusal of a request that the backend would refuse too; `null` where the backend must decide. */
  answer(subject: string, limits: Limits, cost: number, scopes: Scopes): Admission | null {
    const entry = this.#entries.get(subject);
    if (entry?.limits !== limits) return null;
    const now = Math.max(this.#clock(), entry.admission.now);
    if (now >= entry.until || now >= entry.admission.now + this.#keepFor) {
      this.#entries.delete(subject);
      return null;
    }
    const refusal = repeatRefusal(entry, cost, scopes, now);
    if (!refusal) return null;
    if (refusal.verdict === 'limited') {
      const firstRefusals = entry.firstRefusals.get(refusal.violated?.scope);
      // The caller has not been told of this limit yet: the first refusal is no strike, and the backend keeps when it was.
      if (!firstRefusals || now >= firstRefusals.until) return null;
      const strikes = refusal.strikes + this.#strike(subject, entry.limits, refusal, firstRefusals.at);
      return { ...refusal, strikes, by: 'memory' };
    }
    const { banBegins } = entry;
    entry.banBegins = false;
    return { ...refusal, banBegins, by: 'memory' };
  }

  /**
   * Keeps a refusal by the backend, unless something changed since `changes` was taken. An admission ends what was kept, but for a
   * refusal by windows that the admitted request does not count in: that one goes on, with newer readings.
   */
  remember(subject: string, limits: Limits, cost: number, scopes: Scopes, admission: Admission, changes: number): void {
    const before = this.#entries.get(subject);
    if (admission.verdict === 'admitted') {
      if (before === undefined) return;
      if (stillRefuses(before, limits, scopes) && changes === this.#changes)
        this.#entries.set(subject, withReadings(before, admission));
      else this.#entries.delete(subject);
      return;
    }
    if (changes !== this.#changes) return;
    const firstRefusals = new Map(before?.limits === limits ? before.firstRefusals : []);
    const scope = admission.violated?.scope;
    const { rung: _, ...rest } = admission;
    const { now, retryAt } = admission;
    if (!(now < (firstRefusals.get(scope)?.until ?? 0))) firstRefusals.set(scope, { at: now, until: retryAt });
    this.#entries.set(subject, {
      limits,
      cost,
      scopes,
      admission: { ...rest, banBegins: false },
      firstRefusals: firstRefusals,
      until: Math.min(admission.bannedUntil || admission.retryAt, ...partialResets(admission)),
      banBegins: false,
    });
  }

  /** Takes in what came of strikes that were sent on. A ban takes the place of the refusal. Answers whether one began. */
  applyStrikes({ subject, limits }: Strikes, standing: Admission, changes: number): boolean {
    const entry = this.#entries.get(subject);
    if (entry?.limits !== limits || changes !== this.#changes) return false;
    const banned = standing.verdict === 'banned';
    const { violated, retryAt } = entry.admission;
    const { rung: _, ...rest } = standing;
    const admission: Admission = {
      ...rest,
      verdict: banned ? 'banned' : 'limited',
      violated,
      retryAt: Math.max(retryAt, standing.bannedUntil),
      banBegins: false,
    };
    const until = Math.min(standing.bannedUntil || retryAt, ...partialResets(admission));
    this.#entries.set(subject, { ...entry, admission, until, banBegins: banned && standing.banBegins });
    return banned && standing.banBegins;
  }

  /** Something about the subject has changed. */
  forget(subject: string): void {
    this.#changes++;
    this.#entries.delete(subject);
    this.#strikes.delete(subject);
  }

  /** Anything may have changed. */
  clear(): void {
    this.#changes++;
    this.#entries.clear();
    this.#strikes.clear();
  }

  /** Takes the strikes of up to `most` subjects, to be sent on. */
  takeStrikes(most: number): Strikes[] {
    const taken: Strikes[] = [];
    for (const [subject, gathered] of this.#strikes) {
      if (taken.length >= most) break;
      this.#strikes.delete(subject);
      taken.push(...gathered.map((strikes) => ({ subject, ...strikes })));
    }
    return taken;
  }

  /** Answers how many strikes of the subject are waiting. */
  #strike(subject: string, limits: Limits, { now, violated }: Admission, firstRefusal: number): number {
    const { escalation } = limits;
    if (!escalation || now < firstRefusal + escalation.grace) return 0;
    const gathered = this.#strikes.get(subject) ?? [];
    let strikes = gathered.find((one) => one.limits === limits && one.violated?.scope === violated?.scope);
    if (!strikes) {
      strikes = { limits, times: [], violated };
      gathered.push(strikes);
    }
    strikes.violated = violated;
    // More strikes than make a ban tell the backend nothing new.
    if (strikes.times.length < escalation.strikes) strikes.times.push(now);
    this.#strikes.set(subject, gathered);
    return gathered.reduce((sum, { times }) => sum + times.length, 0);
  }
}
