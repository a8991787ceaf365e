import { h } from 'preact';
import type { Plan } from '../../admin-api.ts';
import { useAnswer } from '../api/use-answer.ts';
import { Choice } from '../parts/fields.ts';
import { Failure } from '../parts/notice.ts';

/**
 * A choice of the plans in force, named `plan` in its form. It asks for them when it is shown: to count the keys of each, the gateway reads
 * all keys.
 */
export function PlanChoice({ value }: { value: string }) {
  const { value: answer, error } = useAnswer('/plans');
  const plans = answer?.plans ?? [];
  const known = plans.some(({ name }) => name === value);
  return [
    h(Choice, {
      label: 'Plan',
      name: 'plan',
      value: known || plans.length === 0 ? value : plans[0]!.name,
      options: plans.length === 0 ? [[value, value]] : plans.map((plan) => [plan.name, inWords(plan)] as const),
    }),
    h(Failure, { error }),
  ];
}

function inWords({ name, limits, count }: Plan): string {
  return `${name} · ${limits ?? 'limits of each key'}${count === 'account' ? ', counts accounts' : ''}`;
}
