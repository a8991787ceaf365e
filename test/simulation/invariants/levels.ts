import type { MakeInvariant } from './invariant.ts';

interface Level {
  readonly level: number;
  readonly until: number;
  /** True time of its report. */
  readonly at: number;
}

/** Milliseconds by which a ban of an outage may be reported later. */
const LATE = 30_000;

/**
 * Ban levels fall only by decay or a lift: each automatic ban is one level above the last one that
 * did not decay.
 */
export const levels: MakeInvariant = ({ simulation, disturbances }) => {
  const existing = new Map<string, Level>();

  return {
    name: 'ban levels fall only by decay or a lift',
    observe(fact) {
      if (fact.type === 'change') {
        // Lifts clear levels, and bans of operators raise them: what is known ends with both.
        existing.delete(simulation.subjectOf(fact.change.key));
      }
      if (fact.type !== 'event' || fact.event.type !== 'ban.started') return null;
      const { subject, at, until, level } = fact.event.ban;
      const before = existing.get(subject);
      existing.set(subject, { level, until, at: fact.at });
      if (!before || until <= before.until) return null;
      const kinds = ['outage', 'loss', 'clock', 'pause'] as const;
      if (disturbances.between(before.at - LATE, fact.at, kinds).length > 0) return null;
      const decayed = Math.floor(
        Math.max(0, at - before.until) / simulation.plans.escalation!.decay,
      );
      // Strikes restart the decay.
      const least = Math.max(1, before.level + 1 - decayed);
      return level >= least
        ? null
        : `a ban of level ${least} for ${subject}, not of level ${level}`;
    },
  };
};
