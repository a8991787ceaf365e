import { h } from 'preact';
import type { Plans } from '../../../admin-api.ts';
import { useAnswer } from '../../api/use-answer.ts';
import { AnswerView, View } from '../../parts/view.ts';
import { goTo, linkTo } from '../../routing.ts';
import { Simulation } from './simulation.ts';

export function NewPlan() {
  const answer = useAnswer('/plans');
  return h(View, { title: 'New plan', about: h('a', { href: linkTo('plans') }, 'All plans') }, [
    h(AnswerView<Plans>, {
      answer,
      children: ({ plans }) =>
        h(Simulation, {
          plan: null,
          taken: plans.map(({ name }) => name),
          onPut: async (name) => goTo(linkTo('plans', name), { replace: true }),
        }),
    }),
  ]);
}
