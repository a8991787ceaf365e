import { h } from 'preact';
import type { BanEscalation, Plan, Plans as PlansAnswer } from '../../admin-api.ts';
import { useAnswer } from '../api/use-answer.ts';
import { number, plural } from '../format.ts';
import { Facts } from '../parts/facts.ts';
import { Table } from '../parts/table.ts';
import { AnswerView, View } from '../parts/view.ts';
import { linkTo, type Place } from '../routing.ts';
import { inFlight } from '../sentences/plans.ts';
import { useMay } from '../session.ts';
import { NewPlan } from './plans/new-plan.ts';
import { OnePlan } from './plans/one-plan.ts';

/** `storegate plans`: all plans, one plan with a simulation, or a new plan. */
export function Plans({ place: { rest, query } }: { place: Place }) {
  if (useMay('admin') && query.new) return h(NewPlan, null);
  return rest === '' ? h(AllPlans, null) : h(OnePlan, { name: rest });
}

function AllPlans() {
  const answer = useAnswer('/plans');
  return h(
    View,
    {
      title: 'Plans',
      about: 'Plans, their limits and their keys',
      actions: useMay('admin') && h('a', { href: linkTo('plans', '', { new: 'plan' }) }, 'New plan'),
    },
    h(AnswerView<PlansAnswer>, {
      answer,
      children: ({ plans, public: open, bans }) => [
        h(Table<Plan>, {
          caption: 'Plans in force',
          rows: plans,
          keyOf: ({ name }) => name,
          empty: 'No plans.',
          columns: [
            { title: 'Plan', names: true, cell: ({ name }) => h('a', { href: linkTo('plans', name) }, name) },
            { title: 'Limits', cell: ({ limits }) => limits ?? 'of each key or account' },
            { title: 'Counts', cell: ({ count }) => countInWords(count) },
            { title: 'Keys', figure: true, cell: ({ keys, name }) => h(KeysOf, { keys, plan: name }) },
          ],
        }),
        h('h2', null, 'Public'),
        h(Public, { plan: open[0] }),
        h('h2', null, 'Bans'),
        h(Bans, { escalation: bans }),
      ],
    }),
  );
}

const countInWords = (count: Plan['count']) => (count === 'account' ? 'all keys of an account together' : 'each key');

/** The limits of requests without a key. Only the plans file changes them. */
function Public({ plan }: { plan: Plan | undefined }) {
  if (!plan) return h('p', { class: 'empty' }, 'Public limits are off.');
  return h(Facts, {
    facts: [
      ['Limits', plan.limits],
      ['Counts', 'requests without a key, per client address'],
      ['In flight', inFlight(plan)],
    ],
  });
}

function KeysOf({ keys, plan }: { keys: number | null; plan: string }) {
  return h('a', { href: linkTo('keys', '', { plan }) }, keys === null ? 'unknown' : number(keys));
}

/** How keys that keep sending after refusals are banned. It is the same for all plans. */
function Bans({ escalation: bans }: { escalation: BanEscalation | null }) {
  if (bans === null) return h('p', { class: 'empty' }, 'Automatic bans are off.');
  const { strikes, window, grace, durations, decay } = bans;
  return h(Facts, {
    facts: [
      ['Banned after', `${plural(strikes, 'strike')} within ${window}, on every plan`],
      ['A strike', `a request refused again, ${grace} or more after the first refusal`],
      ['Duration', `${durations.join(', then ')}; the last repeats`],
      ['Forgotten', `one level lower per ${decay} without a strike`],
    ],
  });
}
