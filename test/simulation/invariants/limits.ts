import { SECOND } from '../../../src/common/time.ts';
import { windowId } from '../../../src/limits/kinds.ts';
import type { Window } from '../../../src/limits/limits.ts';
import { countsIn } from '../../../src/limits/scopes.ts';
import type { Answer, OperatorChange } from '../facts.ts';
import { OPERATIONS } from '../gateway/operations.ts';
import type { MakeInvariant } from './invariant.ts';

/** Milliseconds by which decisions and answers may differ in time. */
const TOLERANCE = 20;
/** What a clock may drift, and the counters that an embedded state may lose. */
const DRIFT = 2e-4;
const LOST = 1.5 * SECOND;

interface Charge {
  readonly askedAt: number;
  readonly decidedAt: number;
  readonly units: number;
  readonly resetAt: number;
  readonly gateway: string;
}

interface Counter {
  charges: Charge[];
  /** The charges that opened a window. */
  openings: Charge[];
  grants: { readonly at: number; readonly units: number }[];
  /** Windows by their end: those that were open before a clear do not open again. */
  readonly seen: Set<number>;
  clearedAt: number;
}

/**
 * No window admits more than its limit within its span of true time. Where the state could not be asked, or lost
 * counters, the promised factor applies: docs/failure-modes.md.
 */
export const limits: MakeInvariant = ({ simulation, disturbances }) => {
  const counters = new Map<string, Counter>();
  let checkedUntil = 0;
  const counterOf = (subject: string, window: Window) => {
    const name = `${subject} ${windowId(window)}`;
    const counter = counters.get(name) ?? {
      charges: [],
      openings: [],
      grants: [],
      seen: new Set<number>(),
      clearedAt: 0,
    };
    counters.set(name, counter);
    return counter;
  };

  /** What may be admitted besides the limit between two times. */
  function allowance(window: Window, counter: Counter, from: number, until: number): number {
    const gateways = simulation.gateways.length;
    const outages = disturbances.between(from - LOST, until, ['outage', 'pause']);
    const losses = disturbances.between(from - LOST, until, ['loss']);
    const lost = losses.map((loss) => lostUnits(counter, loss.from));
    const alone = outages.length > 0 && !simulation.isEmbedded ? window.limit + gateways : 0;
    const granted = counter.grants
      .filter(({ at }) => at >= from && at <= until)
      .map(({ units }) => units);
    return alone + [...lost, ...granted].reduce((sum, units) => sum + units, 0);
  }

  const lostUnits = ({ charges }: Counter, at: number) =>
    sumOf(charges.filter(({ decidedAt }) => decidedAt <= at + LOST && decidedAt > at - 2 * LOST));

  function judge(answer: Answer, window: Window, resetAt: number): string | null {
    const { subject, sentAt, decidedAt, gateway, operation } = answer;
    const counter = counterOf(subject!, window);
    const units = OPERATIONS[operation].cost;
    const charge: Charge = { askedAt: sentAt, decidedAt: decidedAt!, units, resetAt, gateway };
    if (charge.decidedAt <= counter.clearedAt) return null;
    counter.charges.push(charge);
    const span = window.span * (1 - DRIFT) - TOLERANCE;
    const isFirst = !counter.seen.has(resetAt);
    counter.seen.add(resetAt);
    if (window.kind === 'sliding' || isFirst) counter.openings.push(charge);
    counter.openings = counter.openings.filter(
      (one) => one.decidedAt > decidedAt! - 2 * window.span,
    );
    for (const opening of window.kind === 'sliding' ? [] : counter.openings) {
      if (decidedAt! >= opening.askedAt + span) continue;
      const fault = over(counter, window, opening.decidedAt - TOLERANCE, opening.askedAt + span);
      if (fault) return `${subject}: ${fault}`;
    }
    const fault =
      window.kind === 'sliding' ? over(counter, window, decidedAt! - span, decidedAt!) : null;
    return fault && `${subject}: ${fault}`;
  }

  function over(counter: Counter, window: Window, from: number, until: number): string | null {
    const inside = counter.charges.filter(
      ({ askedAt, decidedAt }) => askedAt >= from && decidedAt < until,
    );
    const used = sumOf(inside);
    if (used <= window.limit) return null;
    const most = window.limit + allowance(window, counter, from, until);
    if (used <= most) return null;
    return `at most ${most} units admitted per ${window.name}${window.scope ?? ''} (${window.kind}), not ${used}`;
  }

  return {
    name: 'no window admits more than its limit',
    observe(fact) {
      if (fact.type === 'change') forget(fact.change);
      if (fact.type !== 'answer' || fact.answer.status !== 200) return null;
      const { answer } = fact;
      if (answer.admission === null || answer.admission.verdict !== 'admitted') return null;
      forgetBeforeJumps(answer.decidedAt!);
      const { scopes } = OPERATIONS[answer.operation];
      for (const { window, resetAt } of answer.admission.readings) {
        if (!countsIn(window, scopes)) continue;
        const fault = judge(answer, window, resetAt);
        if (fault) return fault;
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

  function forget({ key: { id, account }, step, at }: OperatorChange): void {
    for (const [name, counter] of counters) {
      if (!name.startsWith(`key:${id} `) && !name.startsWith(`account:shared:${account} `))
        continue;
      if (step.type === 'grant') counter.grants.push({ at, units: step.units });
      if (step.type === 'lift' || step.type === 'reset') clear(counter, at);
    }
  }
};

function clear(counter: Counter, clearedAt: number): void {
  counter.clearedAt = clearedAt;
  counter.charges = [];
  counter.openings = [];
}

const sumOf = (charges: readonly Charge[]): number =>
  charges.reduce((sum, { units }) => sum + units, 0);
