import { periodAt } from '../../../src/limits/calendar.ts';
import type { MakeInvariant } from './invariant.ts';

/**
 * A calendar window ends when its hour, day, week or month ends, whatever clocks, outages and
 * restarts do.
 */
export const borders: MakeInvariant = () => ({
  name: 'a calendar window ends at a border of the calendar',
  observe(fact) {
    if (fact.type !== 'answer' || fact.answer.admission === null) return null;
    for (const { window, resetAt } of fact.answer.admission.readings) {
      if (window.kind !== 'calendar') continue;
      const { begin, end } = periodAt({ ...window }, resetAt);
      if (begin !== resetAt) return `an end at ${begin} or ${end}, not ${resetAt}`;
    }
    return null;
  },
});
