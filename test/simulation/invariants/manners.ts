import { DAY, SECOND } from '../../../src/common/time.ts';
import type { Plan } from '../../../src/limits/plans.ts';
import type { Reply } from '../facts.ts';
import type { MakeInvariant } from './invariant.ts';

/**
 * Refusals in flight that a deaf client may get besides the documented number: those sent before the
 * first one arrived, and strikes sent in batches.
 */
const BESIDES = 60;
/** Milliseconds: strikes are sent in batches, and responses arrive later than decisions. */
const LATE = SECOND;
const LATENCY = 100;

/** Refusals by a limit of `units` that are free in one wait, as docs/limits-and-bans.md has them. */
function documentedFree({ workers }: Plan, units = 200): number {
  return workers ?? Math.min(Math.max(units, 20), 200);
}

interface Wait {
  readonly since: number;
  /** Between these moments the wait ends: Retry-After is in whole seconds. */
  endsAfter: number;
  endsBefore: number;
  count: number;
}

/**
 * A key whose workers, at most as many as refusals of a wait are free, all wait for their own
 * Retry-After is never banned; a deaf one is, at any pace, as soon as enough of its refusals are
 * strikes.
 */
export const manners: MakeInvariant = ({ simulation, disturbances }) => {
  /** Subjects that a client uses which does not wait. */
  const isDeaf = new Set<string>();
  /** Workers by subject and client, and when one last got a response. */
  const workers = new Map<string, Map<number, { readonly count: number; readonly at: number }>>();
  /** The waits of a subject, by limit. */
  const refusals = new Map<string, Map<string, Wait>>();
  /** Refusals of a subject that were strikes, and the first one for which it had to be banned. */
  const strikes = new Map<string, { times: number[]; dueAt: number | null }>();

  function forget(subject: string): void {
    refusals.delete(subject);
    strikes.delete(subject);
  }

  /** `null`: whether the last wait has ended is unknown. */
  function waitFor({ subject, gateway, code, respondedAt, ...rest }: Reply): Wait | null {
    const isConcurrency = code === 'too_many_in_flight';
    const scope = isConcurrency ? null : rest.admission!.violated!.scope;
    const limit = isConcurrency ? `in flight at ${gateway}` : (scope ?? '');
    const waits = refusals.get(subject!) ?? new Map<string, Wait>();
    refusals.set(subject!, waits);
    const endsBefore = respondedAt + rest.retryAfter! * SECOND;
    const endsAfter = endsBefore - SECOND;
    const existing = waits.get(limit);
    const isNew = existing === undefined || respondedAt >= existing.endsBefore;
    const wait = isNew ? { since: respondedAt, count: 0, endsAfter, endsBefore } : existing;
    waits.set(limit, wait);
    const isUnclear = !isNew && respondedAt >= wait.endsAfter;
    wait.endsAfter = Math.min(wait.endsAfter, endsAfter);
    wait.endsBefore = Math.min(wait.endsBefore, endsBefore);
    return isUnclear && !isConcurrency ? null : wait;
  }

  /** Free refusals in one wait of the client. */
  function freeFor({ key, code, admission }: Reply): number {
    const plan = simulation.plans.plans.get(key!.plan)!;
    const units = code === 'too_many_in_flight' ? plan.concurrency : admission!.violated!.limit;
    return documentedFree(plan, units);
  }

  function countRefusal(response: Reply): string | null {
    const { code } = response;
    if (code === 'too_many_in_flight') return countInFlight(response);
    return code === 'rate_limit_exceeded' || code === 'daily_quota_exceeded'
      ? countByLimit(response)
      : null;
  }

  /** A flight that ends takes its wait along, and nobody sees it: these are counted roughly. */
  function countInFlight(response: Reply): string | null {
    const { subject, respondedAt } = response;
    const wait = waitFor(response)!;
    wait.count++;
    const most = freeFor(response) + simulation.plans.escalation!.strikes + BESIDES;
    const isFast = respondedAt - wait.since < simulation.plans.escalation!.window;
    if (wait.count <= most || !isFast || isDisturbed(wait.since, respondedAt)) return null;
    return `a ban of ${subject} after ${most} refusals during one wait, not ${wait.count} refusals`;
  }

  function countByLimit(response: Reply): string | null {
    const { subject, respondedAt } = response;
    const wait = waitFor(response);
    if (wait === null) return null;
    const escalation = simulation.plans.escalation!;
    const isInGrace = respondedAt < wait.since + escalation.grace + LATENCY;
    if (wait.count > 0 && isInGrace) return null;
    wait.count++;
    if (wait.count <= freeFor(response) || isDisturbed(wait.since, respondedAt)) return null;
    const existing = strikes.get(subject!) ?? { times: [], dueAt: null };
    strikes.set(subject!, existing);
    existing.times.push(respondedAt);
    existing.times = existing.times.filter((at) => at > respondedAt - escalation.window + LATE);
    if (existing.times.length >= escalation.strikes) existing.dueAt ??= respondedAt;
    return existing.dueAt === null || respondedAt <= existing.dueAt + LATE
      ? null
      : `a ban of ${subject} for ${escalation.strikes} strikes until ${new Date(existing.dueAt).toISOString()}, not another refusal`;
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
      if (fact.type === 'change') forget(simulation.subjectOf(fact.change.key));
      if (fact.type === 'plans') for (const subject of refusals.keys()) forget(subject);
      if (fact.type === 'client' && fact.manner === 'deaf')
        isDeaf.add(simulation.subjectOf(fact.key));
      if (fact.type === 'event' && fact.event.type === 'ban.started') {
        const { subject, until, violated } = fact.event.ban;
        forget(subject);
        const key = simulation.keys.find((one) => simulation.subjectOf(one) === subject)!;
        const plan = simulation.plans.plans.get(key.plan)!;
        const most = documentedFree(plan, violated?.limit ?? plan.concurrency);
        if (!isDeaf.has(subject) && workersOf(subject) <= most)
          return `no ban of ${subject}, whose workers wait, until ${new Date(until).toISOString()}`;
      }
      if (fact.type !== 'answer' || fact.answer.subject === null) return null;
      const { answer: response } = fact;
      const clients =
        workers.get(response.subject!) ?? new Map<number, { count: number; at: number }>();
      workers.set(response.subject!, clients);
      clients.set(response.client, { count: response.workers, at: response.respondedAt });
      return response.key === null ? null : countRefusal(response);
    },
  };
};
