import { HOUR } from '../../../src/common/time.ts';
import type { Window } from '../../../src/limits/limits.ts';
import type { Reply } from '../facts.ts';
import type { MakeInvariant } from './invariant.ts';

/** Whole seconds, and what a clock may drift. */
const ROUNDING = 2;

const LONGEST: Readonly<Record<Window['kind'], (span: number) => number>> = {
  fixed: (span) => span,
  /** A unit counts for a twentieth longer. */
  sliding: (span) => 1.05 * span,
  /** Clocks may be set back by an hour. */
  calendar: (span) => span + HOUR,
};

/**
 * No client has to wait longer than the span of a window, or the length of a ban, whatever clocks
 * do.
 */
export const waits: MakeInvariant = ({ simulation }) => {
  const banned = new Map<string, number>();

  function longest({ admission, subject, code, key }: Reply): number {
    const { escalation } = simulation.plans;
    if (code === 'key_banned')
      return Math.max(...escalation!.durations, banned.get(key?.id ?? '') ?? 0);
    if (code === 'too_many_failed_attempts') return simulation.failureWindow;
    if (admission === null || subject === null) return 1_000;
    const { span, kind } = admission.violated!;
    return LONGEST[kind](span);
  }

  return {
    name: 'no client waits longer than the window or the ban',
    observe(fact) {
      if (fact.type === 'change' && fact.change.step.type === 'ban') {
        const { key, step } = fact.change;
        for (const { id } of simulation.keysBeside(key))
          banned.set(id, Math.max(step.length, banned.get(id) ?? 0));
      }
      if (fact.type !== 'answer' || fact.answer.retryAfter === null) return null;
      const most = Math.ceil(longest(fact.answer) / 1_000) + ROUNDING;
      const { retryAfter, code } = fact.answer;
      return retryAfter <= most
        ? null
        : `a wait of at most ${most} s after ${code}, not ${retryAfter} s`;
    },
  };
};
