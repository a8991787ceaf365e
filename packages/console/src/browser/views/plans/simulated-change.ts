import { h } from 'preact';
import type { PlanSimulation } from '../../../admin-api.ts';
import { plural } from '../../format.ts';
import { ClientLink } from '../../parts/client-link.ts';
import { Notice } from '../../parts/notice.ts';
import { inFlight } from '../../sentences/plans.ts';

/** Of many only the first are named. */
const MOST_NAMED = 20;

/** What the change would do to keys as they stand now. */
export function SimulatedChange({ trial }: { trial: PlanSimulation }) {
  const { before, after, keys, overLimit, unusable } = trial;
  return [
    h('h3', null, 'Now'),
    h('p', null, [
      h('code', null, before ?? 'no limits of its own'),
      ' → ',
      h('code', null, after ?? 'no limits of its own'),
      `, ${inFlight(trial)}: ${keys === 0 ? 'no key' : plural(keys, 'key')} would have other limits.`,
    ]),
    overLimit.length > 0 &&
      h(Notice, { tone: 'warn' }, [
        `${plural(overLimit.length, isAccount(overLimit[0]!) ? 'account' : 'key')} would be refused at once: `,
        h(Named, { subjects: overLimit }),
      ]),
    unusable.length > 0 &&
      h(Notice, { tone: 'bad' }, [
        `${plural(unusable.length, 'key')} would have no limits at all and be refused: `,
        h(Named, { subjects: unusable }),
      ]),
    keys > 0 && overLimit.length + unusable.length === 0 && h('p', null, 'No client would be refused at once.'),
  ];
}

const isAccount = (subject: string) => subject.startsWith('account:');

/** A key, or an account where the plan counts accounts: `account:<plan>:<account>`. */
const whoIs = (subject: string) => subject.replace(/^key:|^account:[^:]*:/, '');

function Named({ subjects }: { subjects: readonly string[] }) {
  const more = subjects.length - MOST_NAMED;
  return [
    subjects
      .slice(0, MOST_NAMED)
      .map((subject, i) => [i > 0 && ', ', h(ClientLink, { key: subject, who: whoIs(subject) })]),
    more > 0 && ` and ${more} more`,
  ];
}
