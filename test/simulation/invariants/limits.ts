import { SECOND } from '../../../src/common/time.ts';
import type { Reading } from '../../../src/limits/admission.ts';
import { meterOf, windowId } from '../../../src/limits/kinds.ts';
import type { Window } from '../../../src/limits/limits.ts';
import { countsIn } from '../../../src/limits/scopes.ts';
import { ANNOUNCE_INTERVAL } from '../../../src/observe/peers/peers.ts';
import type { OperatorChange, Reply } from '../facts.ts';
import { OPERATIONS } from '../gateway/operations.ts';
import type { MakeInvariant } from './invariant.ts';

/** Milliseconds by which decisions and answers may differ in time. */
const TOLERANCE = 20;
/** What a clock may drift, and the counters that an embedded state may lose. */
const DRIFT = 2e-4;
const LOST = 1.5 * SECOND;
/** Milliseconds after an outage in which a gateway may still count by itself. */
const AFTER = 6 * SECOND;

interface Charge {
  readonly requestedAt: number;
  readonly decidedAt: number;
  readonly units: number;
  /** Of the plan at that time. */
  readonly limit: number;
}

/** When a fixed or calendar window began, at the earliest and at the latest. */
interface Opening {
  readonly earliest: number;
  readonly latest: number;
  /** Milliseconds that it lasted at least. */
  readonly span: number;
}

interface Counter {
  charges: Charge[];
  /** By the end of the window, on the clock of the state. */
  readonly openings: Map<number, Opening>;
  readonly name: string;
  clearedAt: number;
}

/**
 * No window admits more than its limit within its span of true time. Where the state could not be
 * asked, or lost counters, the promised factor applies: docs/failure-modes.md.
 */
export const limits: MakeInvariant = ({ simulation, disturbances }) => {
  const counters = new Map<string, Counter>();
  /** A change may be confirmed before the first response that shows its counter. */
  const grants: OperatorChange[] = [];
  const clears: OperatorChange[] = [];
  let checkedUntil = 0;
  const counterOf = (subject: string, window: Window) => {
    const name = `${subject} ${windowId(window)}`;
    const existing = counters.get(name);
    if (existing) return existing;
    const counter: Counter = { charges: [], openings: new Map(), name, clearedAt: 0 };
    counter.clearedAt = clears.findLast((change) => concerns(change, counter))?.at ?? 0;
    counters.set(name, counter);
    return counter;
  };

  /** What may be admitted besides the limit between two times. */
  function allowance(window: Window, counter: Counter, from: number, until: number): number {
    const gateways = simulation.gateways.length;
    const outages = disturbances.between(from - AFTER, until, ['outage', 'messages', 'pause']);
    const losses = disturbances.between(from - LOST, until, ['loss']);
    const lost = losses.map((loss) => lostUnits(counter, loss.from));
    const alone =
      outages.length > 0 && !simulation.isEmbedded
        ? window.limit * sharesIn(outages[0]!.from) + gateways
        : 0;
    const granted = grants
      .filter((grant) => grant.at >= from && grant.at <= until && concerns(grant, counter))
      .map(({ step }) => (step.type === 'grant' ? step.units : 0));
    return alone + [...lost, ...granted].reduce((sum, units) => sum + units, 0);
  }

  /** A jump of Redis's clock ends what it knows of gateways, until each has announced itself again. */
  function sharesIn(outageFrom: number): number {
    const before = outageFrom - 2 * ANNOUNCE_INTERVAL;
    const jumps = disturbances.between(before, outageFrom, ['clock']);
    return jumps.length > 0 ? simulation.gateways.length : 1;
  }

  const lostUnits = ({ charges }: Counter, at: number) =>
    sumOf(charges.filter(({ decidedAt }) => decidedAt <= at + LOST && decidedAt > at - 2 * LOST));

  function judge(response: Reply, { window, resetAt }: Reading): string | null {
    const { subject, sentAt: requestedAt, decidedAt, operation, admission } = response;
    const counter = counterOf(subject!, window);
    if (decidedAt <= counter.clearedAt) return null;
    counter.charges.push({
      requestedAt,
      decidedAt,
      units: OPERATIONS[operation].cost,
      limit: window.limit,
    });
    const shorter = (span: number) => span * (1 - DRIFT) - TOLERANCE;
    if (window.kind === 'sliding')
      return over(counter, window, decidedAt - shorter(window.span), decidedAt);
    const begin = meterOf(window).beginBefore(window, resetAt);
    const age = admission!.now - begin;
    counter.openings.set(resetAt, {
      earliest: requestedAt - age,
      latest: decidedAt - age,
      span: shorter(resetAt - begin),
    });
    for (const [end, { earliest, latest, span }] of counter.openings) {
      if (latest < decidedAt - 2 * window.span) counter.openings.delete(end);
      if (decidedAt >= earliest + span) continue;
      const fault = over(counter, window, latest - TOLERANCE, earliest + span);
      if (fault) return fault;
    }
    return null;
  }

  function over(counter: Counter, window: Window, from: number, until: number): string | null {
    const inside = counter.charges.filter(
      ({ requestedAt, decidedAt }) => requestedAt >= from && decidedAt < until,
    );
    const used = sumOf(inside);
    // A plan may have changed since an answer that arrives late was decided.
    const limit = Math.max(window.limit, ...inside.map((charge) => charge.limit));
    if (used <= limit) return null;
    const most = limit + allowance({ ...window, limit }, counter, from, until);
    if (used <= most) return null;
    const { name, kind, scope = 'all' } = window;
    return `at most ${most} units per ${name} (${kind}, ${scope}), not ${used}`;
  }

  return {
    name: 'no window admits more than its limit',
    observe(fact) {
      if (fact.type === 'change') forget(fact.change);
      if (fact.type !== 'answer' || fact.answer.status !== 200) return null;
      const { answer: response } = fact;
      if (response.admission === null || response.admission.verdict !== 'admitted') return null;
      forgetBeforeJumps(response.decidedAt);
      const { scopes } = OPERATIONS[response.operation];
      for (const reading of response.admission.readings) {
        if (!countsIn(reading.window, scopes)) continue;
        const fault = judge(response, reading);
        if (fault) return `${response.subject}: ${fault}`;
      }
      return null;
    },
  };

  /** A clock that jumps ahead may end windows early. */
  function forgetBeforeJumps(now: number): void {
    const jumps = disturbances.between(checkedUntil, now, ['clock']);
    checkedUntil = now;
    if (jumps.length > 0)
      for (const counter of counters.values()) clear(counter, counter.clearedAt);
  }

  function forget(change: OperatorChange): void {
    const { step, at } = change;
    if (step.type === 'grant') grants.push(change);
    if (step.type !== 'lift' && step.type !== 'reset') return;
    clears.push(change);
    for (const counter of counters.values()) if (concerns(change, counter)) clear(counter, at);
  }
};

function concerns({ key: { id, account } }: OperatorChange, { name }: Counter): boolean {
  return name.startsWith(`key:${id} `) || name.startsWith(`account:shared:${account} `);
}

function clear(counter: Counter, clearedAt: number): void {
  counter.clearedAt = clearedAt;
  counter.charges = [];
  counter.openings.clear();
}

const sumOf = (charges: readonly Charge[]): number =>
  charges.reduce((sum, { units }) => sum + units, 0);
