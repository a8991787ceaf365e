import { createCache } from '../../common/cache.ts';
import {
  type Admission,
  type Reading,
  refuses,
} from '../../limits/admission.ts';
import { freeIn } from '../../limits/ban-escalation.ts';
import { kindOf } from '../../limits/kinds.ts';
import type { Limits, Window } from '../../limits/limits.ts';
import { countsIn } from '../../limits/scopes.ts';
import type { Charge } from './remote-state.ts';
import {
  type CountedRefusals,
  createUnsentRefusals,
  IN_FLIGHT,
} from './unsent-refusals.ts';

interface CachedRefusal extends Charge {
  readonly admission: Admission;
  /** For each scope, or `undefined` for own windows. */
  readonly waits: ReadonlyMap<string | undefined, CachedWait>;
  /** When the refusal may change, by Redis's clock. */
  readonly until: number;
  /** A ban began with forwarded strikes and is not yet reported in a response. */
  banBegins: boolean;
}

interface CachedWait {
  /** The first refusal. */
  readonly at: number;
  /** The earliest retry time. */
  readonly until: number;
  /** Further refusals that Redis would not count as strikes. */
  readonly free: number;
}

interface RefusalCacheOptions {
  /** Estimated Redis clock, Unix milliseconds. */
  readonly clock: () => number;
  /** Milliseconds until Redis is asked again, because a message may be lost. */
  readonly ttl: number;
  /** Minimum number of subjects; the maximum is twice as many. */
  readonly size?: number;
}

/**
 * Milliseconds that the estimated clock may be behind a response. More: Redis's clock was set
 * back.
 */
const MAX_LAG = 1_000;

/**
 * Refuses known refused subjects without asking Redis, only if Redis would refuse too.
 * Collects the refusals that Redis must count.
 */
export function createRefusalCache({
  clock,
  ttl: keepFor,
  size = 50_000,
}: RefusalCacheOptions) {
  const unsent = createUnsentRefusals();
  let version = 0;

  const entries = createCache<CachedRefusal>(size);

  return {
    unsent,
    /**
     * Read this before a call to Redis and pass it to `remember`: a response older than a
     * change is not cached.
     */
    get changes() {
      return version;
    },
    get size() {
      return entries.size;
    },
    /** The refusal that Redis would return; `null`: Redis must decide. */
    decide(charge: Charge): Admission | null {
      const { subject, limits } = charge;
      const entry = entries.get(subject);
      if (entry?.limits !== limits) return null;
      const time = clock();
      const now = Math.max(time, entry.admission.now);
      const isOutdated =
        now > time + MAX_LAG || now >= entry.admission.now + keepFor;
      if (isOutdated || now >= entry.until) {
        entries.delete(subject);
        return null;
      }
      const refusal = allResetAsWhole(limits)
        ? recount(entry.admission, charge, now)
        : repeatSameCharge(entry, charge, now);
      if (!refusal) return null;
      if (refusal.verdict === 'limited') {
        const wait = entry.waits.get(refusal.violated?.scope);
        // The first refusal by another limit begins a wait, and Redis records its time.
        if (!wait || now >= wait.until) return null;
        const { escalation } = limits;
        const isCounted =
          escalation !== null && now >= wait.at + escalation.grace;
        const sinceSent = isCounted
          ? unsent.add(subject, limits, refusal.violated, now)
          : 0;
        const strikes = refusal.strikes + Math.max(0, sinceSent - wait.free);
        const freeRefusals = Math.max(0, wait.free - sinceSent);
        return { ...refusal, strikes, freeRefusals, by: 'memory' };
      }
      const { banBegins } = entry;
      entry.banBegins = false;
      return { ...refusal, banBegins, by: 'memory' };
    },
    /**
     * Caches a refusal, unless something changed since `changes` was read. An admission removes the
     * entry, except for a refusal by windows in which the request does not count; that entry gets the
     * new readings.
     */
    remember(charge: Charge, admission: Admission, changes: number) {
      const { subject, limits } = charge;
      const before = entries.get(subject);
      if (admission.verdict === 'admitted') {
        if (before === undefined) return;
        if (stillRefuses(before, charge) && changes === version)
          entries.set(subject, withReadings(before, admission));
        else entries.delete(subject);
        return;
      }
      if (changes !== version) return;
      const waits = new Map(before?.limits === limits ? before.waits : []);
      const scope = admission.violated?.scope;
      const { banLevel: _, ...rest } = admission;
      const { now, retryAt, freeRefusals: free } = admission;
      const wait = waits.get(scope);
      const isInWait = wait !== undefined && now < wait.until;
      waits.set(
        scope,
        isInWait
          ? { at: wait.at, until: Math.min(wait.until, retryAt), free }
          : { at: now, until: retryAt, free },
      );
      entries.set(subject, {
        ...charge,
        admission: { ...rest, banBegins: false },
        waits,
        until: changeOf(admission),
        banBegins: false,
      });
    },
    /**
     * Applies the result of counted refusals; a ban replaces the refusal. Returns whether a ban
     * began.
     */
    apply(
      { subject, limits, cause }: CountedRefusals,
      result: Admission,
      changes: number,
    ) {
      const entry = entries.get(subject);
      if (entry?.limits !== limits || changes !== version) return false;
      const banned = result.verdict === 'banned';
      const begins = banned && result.banBegins;
      const { violated, retryAt } = entry.admission;
      // Redis's clock was set back, and the retry time is one of the fast clock.
      if (result.now < entry.admission.now - MAX_LAG) {
        entries.delete(subject);
        return begins;
      }
      const { banLevel: _, ...rest } = result;
      const waits = new Map(entry.waits);
      if (cause !== IN_FLIGHT) {
        const wait = waits.get(cause?.scope);
        // All are free only after the wait that Redis has, which may be an older one. Then Redis
        // must begin the next.
        if (hasAllFree(result, limits, cause)) waits.delete(cause?.scope);
        else if (wait)
          waits.set(cause?.scope, { ...wait, free: result.freeRefusals });
      }
      const admission: Admission = {
        ...rest,
        verdict: banned ? 'banned' : 'limited',
        violated,
        retryAt: Math.max(retryAt, result.bannedUntil),
        banBegins: false,
      };
      entries.set(subject, {
        ...entry,
        admission,
        waits,
        until: changeOf(admission),
        banBegins: begins,
      });
      return begins;
    },
    forget(subject: string) {
      version++;
      entries.delete(subject);
      unsent.forget(subject);
    },
    clear() {
      version++;
      entries.clear();
      unsent.clear();
    },
  };
}

function hasAllFree(
  { freeRefusals }: Admission,
  { escalation }: Limits,
  cause: Window | null,
): boolean {
  return (
    escalation !== null && freeRefusals === freeIn(escalation, cause?.limit)
  );
}

function allResetAsWhole({ windows }: Limits): boolean {
  return windows.every((window) => kindOf(window).resetsAsWhole);
}

/**
 * Whether a refusal still holds after an admission in these scopes. Without `recount` its readings
 * may have changed.
 */
function stillRefuses(
  { limits, admission }: CachedRefusal,
  charge: Charge,
): boolean {
  const { verdict, violated } = admission;
  if (limits !== charge.limits || verdict !== 'limited' || violated === null)
    return false;
  return !countsIn(violated, charge.scopes) && allResetAsWhole(limits);
}

/**
 * The refusal with the readings of a later admission that does not count in the refusing window.
 */
function withReadings(
  entry: CachedRefusal,
  { readings, now }: Admission,
): CachedRefusal {
  const admission = { ...entry.admission, readings, now };
  return { ...entry, admission, until: changeOf(admission) };
}

/**
 * When a refusal may change: at its end, and with a window whose units return gradually, at the
 * next return of any window. Other windows are covered by `recount`.
 */
function changeOf({ readings, bannedUntil, retryAt }: Admission): number {
  const end = bannedUntil || retryAt;
  if (readings.every(({ window }) => kindOf(window).resetsAsWhole)) return end;
  const open = readings.filter(({ used }) => used > 0);
  return Math.min(end, ...open.map(({ resetAt }) => resetAt));
}

/**
 * Windows that reset as a whole only lose units until then, so a reading refuses any cost that does
 * not fit.
 */
function recount(
  cached: Admission,
  { cost, scopes }: Charge,
  now: number,
): Admission | null {
  const readings = cached.readings.map((reading) => current(reading, now));
  const violated = readings.filter(
    ({ used, window }) =>
      used + cost > window.limit && countsIn(window, scopes) && refuses(window),
  );
  if (cached.verdict === 'limited' && violated.length === 0) return null;
  const retryAt = Math.max(
    cached.bannedUntil,
    ...violated.map(({ resetAt }) => resetAt),
  );
  return {
    ...cached,
    now,
    readings,
    retryAt,
    violated: violated.at(-1)?.window ?? null,
  };
}

/** An unused window is not open, so its reset moves with the clock. */
function current(reading: Reading, now: number): Reading {
  const { window, used, resetAt } = reading;
  if (now < resetAt && used > 0) return reading;
  const { meter } = kindOf(window);
  return {
    window,
    used: 0,
    resetAt: meter.endFrom(window, now),
  };
}

/**
 * With gradually returning units, only an equal charge gets an equal response; the state decides
 * others.
 */
function repeatSameCharge(
  entry: CachedRefusal,
  { cost, scopes }: Charge,
  now: number,
): Admission | null {
  if (cost !== entry.cost || scopes !== entry.scopes) return null;
  const { admission } = entry;
  return {
    ...admission,
    now,
    readings: admission.readings.map((reading) => current(reading, now)),
  };
}
