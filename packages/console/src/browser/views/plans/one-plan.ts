import { h } from 'preact';
import type { Plan } from '../../../admin-api.ts';
import { useAnswer } from '../../api/use-answer.ts';
import { plural } from '../../format.ts';
import { Facts } from '../../parts/facts.ts';
import { AnswerView, View } from '../../parts/view.ts';
import { linkTo } from '../../routing.ts';
import { addressesInWords, inFlight } from '../../sentences/plans.ts';
import { PlanHistory } from './history.ts';
import { Simulation } from './simulation.ts';

/** One plan: what it is, what another one would do, and its requests. */
export function OnePlan({ name }: { name: string }) {
  const answer = useAnswer(`/plans/${encodeURIComponent(name)}`);
  return h(View, { title: `Plan ${name}`, about: h('a', { href: linkTo('plans') }, 'All plans') }, [
    h(AnswerView<Plan>, {
      answer,
      children: (plan) => [
        h(Facts, {
          facts: [
            ['Limits', plan.limits ?? 'set per key or account'],
            ['Counts', plan.count === 'account' ? 'all keys of an account together' : 'each key'],
            ['In flight', inFlight(plan)],
            ['Weight', `${plan.weight}, if the store is busy`],
            ['Used', addressesInWords(plan.addresses)],
            [
              'Keys',
              h('a', { href: linkTo('keys', '', { plan: name }) }, [
                plan.keys === null ? 'unknown while the state is down' : plural(plan.keys, 'key'),
              ]),
            ],
          ],
        }),
        h('h2', null, 'Simulate other limits'),
        // The simulation belongs to the plan as it was: another plan starts with a new one.
        h(Simulation, {
          key: `${plan.limits} ${plan.count} ${plan.concurrency} ${plan.weight} ${addressesInWords(plan.addresses)}`,
          plan,
          onPut: answer.refresh,
        }),
        h('h2', null, 'Requests in the last day'),
        h(PlanHistory, { plan: name }),
      ],
    }),
  ]);
}
