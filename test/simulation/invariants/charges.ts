import { HOUR } from '../../../src/common/time.ts';
import { meterOf, windowId } from '../../../src/limits/kinds.ts';
import { countsIn } from '../../../src/limits/scopes.ts';
import type { Disturbance, Reply } from '../facts.ts';
import { OPERATIONS } from '../gateway/operations.ts';
import type { MakeInvariant } from './invariant.ts';

/** Milliseconds around a fault in which a gateway may still count by itself. */
const AFTER = 6_000;

/** A window as its readings show it. */
interface Group {
  readonly name: string;
  readonly span: number;
  readonly from: number;
  until: number;
  /** Units of admitted requests, and the most that a reading showed as used. */
  admitted: number;
  used: number;
}

/** Milliseconds: from an hour fast to an hour slow. */
const USUAL_JUMP = 2 * HOUR;

/**
 * What is admitted is charged once, and what is refused is free: the last reading of a window shows
 * its admissions.
 */
export const charges: MakeInvariant = ({ simulation, disturbances }) => {
  const groups = new Map<string, Group>();
  /** True times of what changes counters besides requests. */
  const changes: { readonly subject: string | null; readonly at: number }[] = [];

  function note(response: Reply): void {
    const { admission, subject, operation, sentAt, decidedAt, respondedAt } = response;
    const { cost, scopes } = OPERATIONS[operation];
    for (const { window, used, resetAt } of admission!.readings) {
      if (window.kind === 'sliding' || !countsIn(window, scopes)) continue;
      const id = `${subject} ${windowId(window)} ${resetAt}`;
      const begin = meterOf(window).beginBefore(window, resetAt);
      const openedAt = decidedAt - (admission!.now - begin);
      const from = Math.min(sentAt, openedAt);
      const group = groups.get(id) ?? {
        name: subject!,
        span: window.span,
        from,
        until: respondedAt,
        admitted: 0,
        used: 0,
      };
      groups.set(id, group);
      group.admitted += cost;
      group.used = Math.max(group.used, used);
      group.until = respondedAt;
    }
  }

  function isCalm({ name, span, from, until }: Group): boolean {
    // A window that lies in the future after a clock was set back begins again when it is next
    // used, however late.
    const clocks = disturbances.between(0, until, ['clock']);
    const reach = ({ jump = 0 }: Disturbance) => Math.max(USUAL_JUMP, Math.abs(jump));
    if (clocks.some((clock) => clock.until >= from - span - reach(clock))) return false;
    const kinds = ['outage', 'loss', 'clock', 'pause'] as const;
    if (disturbances.between(from - AFTER, until + AFTER, kinds).length > 0) return false;
    return !changes.some(
      ({ subject, at }) => at >= from && at <= until && (subject === null || subject === name),
    );
  }

  return {
    name: 'charged is what was admitted',
    observe(fact) {
      if (fact.type === 'plans') changes.push({ subject: null, at: fact.at });
      if (fact.type === 'change')
        changes.push({ subject: simulation.subjectOf(fact.change.key), at: fact.change.at });
      if (fact.type !== 'answer' || fact.answer.admission?.verdict !== 'admitted') return null;
      const { answer: response } = fact;
      // A local decision reads its share, and is charged later.
      if (response.admission!.by === 'local')
        changes.push({ subject: response.subject, at: response.respondedAt });
      else note(response);
      return null;
    },
    async check() {
      for (const [id, group] of groups) {
        if (isCalm(group) && group.used !== group.admitted)
          return `${group.admitted} units charged in the window ${id}, not ${group.used}`;
      }
      return null;
    },
  };
};
