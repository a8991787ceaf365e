import type { Limits, Window } from '../../limits/limits.ts';

/** The cause of refusals beyond the concurrent requests of a plan. Each is a strike already. */
export const IN_FLIGHT = 'in-flight';

/** Refusals of one subject by one limit that this process decided. */
export interface CountedRefusals {
  readonly subject: string;
  readonly limits: Limits;
  readonly count: number;
  /**
   * Unix milliseconds by Redis's clock: the last refusals, as many as a ban needs, oldest
   * first.
   */
  readonly times: readonly number[];
  /**
   * The window of the last refusal; all are windows of one scope, or own windows. `null`: unknown.
   */
  readonly cause: Cause;
}

type Cause = Window | typeof IN_FLIGHT | null;

interface PendingRefusals {
  readonly limits: Limits;
  count: number;
  readonly times: number[];
  cause: Cause;
}

/** Collects refusals until Redis counts them. */
export function createUnsentRefusals() {
  const bySubject = new Map<string, PendingRefusals[]>();

  return {
    /**
     * `now`: Unix milliseconds by Redis's clock. Returns the number of unsent refusals by this
     * limit.
     */
    add(subject: string, limits: Limits, cause: Cause, now: number) {
      const pending = bySubject.get(subject) ?? [];
      let refusals = pending.find(
        (one) => one.limits === limits && isSameLimit(one.cause, cause),
      );
      if (!refusals) {
        refusals = { limits, count: 0, times: [], cause };
        pending.push(refusals);
        bySubject.set(subject, pending);
      }
      refusals.cause = cause;
      refusals.count += 1;
      // Strikes beyond those of a ban have no effect.
      if (refusals.times.length === limits.escalation?.strikes)
        refusals.times.shift();
      refusals.times.push(now);
      return refusals.count;
    },
    /** Removes and returns the refusals of at most `most` subjects. */
    take(most: number): CountedRefusals[] {
      const taken: CountedRefusals[] = [];
      for (const [subject, pending] of bySubject) {
        if (taken.length >= most) break;
        bySubject.delete(subject);
        taken.push(...pending.map((refusals) => ({ subject, ...refusals })));
      }
      return taken;
    },
    forget(subject: string) {
      bySubject.delete(subject);
    },
    clear() {
      bySubject.clear();
    },
  };
}

function isSameLimit(one: Cause, other: Cause): boolean {
  if (one === IN_FLIGHT || other === IN_FLIGHT) return one === other;
  return one?.scope === other?.scope;
}
