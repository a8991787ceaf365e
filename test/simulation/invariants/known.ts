import { UNTIL_READ } from '../facts.ts';
import type { MakeInvariant } from './invariant.ts';

/** A key is not refused as unknown or revoked, unless an operator wanted that or it is long gone. */
export const existing: MakeInvariant = ({ disturbances }) => {
  const revoked = new Set<string>();

  return {
    name: 'a valid key is known',
    observe(fact) {
      if (fact.type === 'attempt' && fact.step.type === 'revoke') revoked.add(fact.id);
      if (fact.type !== 'answer' || fact.answer.status !== 401) return null;
      const { key, gateway, sentAt, respondedAt } = fact.answer;
      if (key === null || key.id === '' || revoked.has(key.id)) return null;
      const outages = disturbances.between(sentAt - UNTIL_READ, respondedAt, ['outage'], gateway);
      const since = Math.min(sentAt, ...outages.map(({ from }) => from));
      const isGone = disturbances.between(since, respondedAt, ['unknown']).length > 0;
      return isGone ? null : `no refusal of ${key.id}, which is valid`;
    },
  };
};
