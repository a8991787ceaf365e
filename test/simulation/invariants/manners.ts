import { DAY, SECOND } from '../../../src/common/time.ts';
import type { Answer } from '../facts.ts';
import { refusalsToBan } from '../faults/support.ts';
import { isKnown } from '../known-faults.ts';
import type { MakeInvariant } from './invariant.ts';

/**
 * Refusals that a deaf client may get besides the documented number: those in flight, and strikes
 * sent in batches.
 */
const BESIDES = 60;

interface Wait {
  readonly since: number;
  until: number;
  count: number;
}

/**
 * A key whose workers, at most `bans.workers`, all wait for their own Retry-After is never banned;
 * a deaf one is, at the latest after the documented number of refusals during one wait.
 */
export const manners: MakeInvariant = ({ simulation, disturbances }) => {
  /** Subjects that a client uses which does not wait. */
  const isDeaf = new Set<string>();
  /** Workers by subject and client, and when one last got a response. */
  const workers = new Map<string, Map<number, { readonly count: number; readonly at: number }>>();
  /** The waits of a subject, by limit. */
  const refusals = new Map<string, Map<string, Wait>>();

  function waitFor({ subject, gateway, code, answeredAt, retryAfter, admission }: Answer): Wait {
    const isConcurrency = code === 'too_many_in_flight';
    const limit = isConcurrency ? `in flight at ${gateway}` : (admission!.violated!.scope ?? '');
    const waits = refusals.get(subject!) ?? new Map<string, Wait>();
    refusals.set(subject!, waits);
    const until = answeredAt + retryAfter! * 1_000;
    const known = waits.get(limit);
    const wait = known && answeredAt < known.until ? known : { since: answeredAt, count: 0, until };
    wait.until = Math.min(wait.until, until);
    waits.set(limit, wait);
    return wait;
  }

  function countRefusal(answer: Answer): string | null {
    const { subject, code, answeredAt } = answer;
    const isConcurrency = code === 'too_many_in_flight';
    if ((code !== 'rate_limit_exceeded' && !isConcurrency) || (isConcurrency && isKnown(3)))
      return null;
    const wait = waitFor(answer);
    wait.count++;
    const most = refusalsToBan(simulation.plans) + BESIDES;
    const { window } = simulation.plans.escalation!;
    const isFast = answeredAt - wait.since < window;
    if (wait.count <= most || !isFast || isDisturbed(wait.since, answeredAt)) return null;
    return `a ban of ${subject} after ${most} refusals during one wait, not ${wait.count} refusals`;
  }

  /** Workers that may still wait; no wait is longer than a day. */
  function workersOf(subject: string): number {
    const since = simulation.world.now - DAY;
    const clients = [...(workers.get(subject)?.values() ?? [])].filter(({ at }) => at >= since);
    return clients.reduce((sum, { count }) => sum + count, 0);
  }

  const isDisturbed = (from: number, until: number) =>
    disturbances.between(from - SECOND, until, ['outage', 'loss', 'clock', 'pause', 'messages'])
      .length > 0;

  return {
    name: 'deaf clients are banned, and polite ones never',
    observe(fact) {
      if (fact.type === 'change') refusals.delete(simulation.subjectOf(fact.change.key));
      if (fact.type === 'plans') refusals.clear();
      if (fact.type === 'client' && fact.manner === 'deaf')
        isDeaf.add(simulation.subjectOf(fact.key));
      if (fact.type === 'event' && fact.event.type === 'ban.started') {
        const { subject, until } = fact.event.ban;
        refusals.delete(subject);
        const most = isKnown(3) ? 1 : simulation.plans.escalation!.workers;
        if (!isDeaf.has(subject) && workersOf(subject) <= most)
          return `no ban of ${subject}, whose workers wait, until ${new Date(until).toISOString()}`;
      }
      if (fact.type !== 'answer' || fact.answer.subject === null) return null;
      const { answer } = fact;
      const clients =
        workers.get(answer.subject!) ?? new Map<number, { count: number; at: number }>();
      workers.set(answer.subject!, clients);
      clients.set(answer.client, { count: answer.workers, at: answer.answeredAt });
      return answer.key === null ? null : countRefusal(answer);
    },
  };
};
