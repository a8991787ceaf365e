import type { MakeInvariant } from './invariant.ts';

/** Nothing stays in flight. */
export const flights: MakeInvariant = ({ simulation }) => {
  const subjects = new Set<string>();
  return {
    name: 'nothing stays in flight',
    observe(fact) {
      if (fact.type === 'answer' && fact.answer.subject !== null) subjects.add(fact.answer.subject);
      return null;
    },
    async check() {
      for (const gateway of simulation.gateways) {
        if (gateway.open > 0)
          return `an answer to each request, not ${gateway.open} requests without one`;
        for (const subject of subjects) {
          const count = gateway.running?.traffic.flights.of(subject) ?? 0;
          if (count > 0)
            return `nothing in flight for ${subject} at ${gateway.name}, not ${count} requests`;
        }
      }
      return null;
    },
  };
};
