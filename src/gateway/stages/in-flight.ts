import { Outage } from '../../common/errors/outage.ts';
import { Refusal } from '../../common/errors/refusals.ts';
import type { MaybePromise } from '../../common/maybe-promise.ts';
import { SECOND } from '../../common/time.ts';
import type { Admission, Readings } from '../../limits/admission.ts';
import { freeAfter, isStrike } from '../../limits/ban-escalation.ts';
import { noWait, type Wait } from '../../limits/counters.ts';
import type { Plans } from '../../limits/plans.ts';
import type { State } from '../../state/state.ts';
import type { Exchange } from '../exchange.ts';
import type { Admitted, KnownClient } from '../results.ts';
import { type Admit, type Judge, keepingLast } from './admit.ts';
import { type BanWarning, banWarning } from './ban-warning.ts';

/** Milliseconds. */
const FRESH = 1_000;
/** Seconds. A client whose requests take long waits as long as it has waited already. */
const [MIN_RETRY_AFTER, MAX_RETRY_AFTER] = [1, 32];

type Usage = Readings | Admission;

/** Times are monotonic milliseconds. */
interface Flight {
  count: number;
  /** When a request last ended, or the first one began. */
  endedAt: number;
  last: Exchange;
  looked: Admission | null;
  lookedAt: number;
  looking: Promise<Usage> | null;
  /** The wait after a refusal. */
  readonly wait: Wait;
  /** The last admitted request whose usage was used. */
  read: Exchange | null;
  /** Strikes later than the last usage. */
  strikes: number;
}

interface RefusedRequest {
  readonly flight: Flight;
  readonly exchange: Exchange;
  readonly client: KnownClient;
  /** Seconds. */
  readonly retryAfter: number;
}

export function createFlights() {
  const bySubject = new Map<string, Flight>();

  return {
    /** Returns the requests in flight if there are `most` already. */
    take(subject: string, most: number, exchange: Exchange): Flight | null {
      let flight = bySubject.get(subject);
      if (flight === undefined) {
        flight = {
          count: 0,
          endedAt: performance.now(),
          last: exchange,
          looked: null,
          lookedAt: 0,
          looking: null,
          wait: noWait(),
          read: null,
          strikes: 0,
        };
        bySubject.set(subject, flight);
      } else if (flight.count >= most) return flight;
      flight.count++;
      flight.last = exchange;
      exchange.call.whenEnded(() => {
        flight.count--;
        flight.endedAt = performance.now();
        if (flight.count === 0) bySubject.delete(subject);
      });
      return null;
    },
    of(subject: string): number {
      return bySubject.get(subject)?.count ?? 0;
    },
  };
}

export type Flights = ReturnType<typeof createFlights>;

interface InFlightParts {
  readonly plans: Plans;
  readonly flights: Flights;
  readonly state: Pick<State, 'look' | 'strike'>;
  readonly judge: Judge;
  readonly admit: Admit;
}

/**
 * The refusal charges no window. The state is called only to read, once per second, and for a
 * strike.
 */
export function createInFlight({
  plans,
  flights,
  state,
  judge,
  admit,
}: InFlightParts): Admit {
  if (!hasBound(plans)) return admit;
  const refusalOf = keepingLast(tooMany);

  return function admitInFlight(exchange, client, cost) {
    const { concurrency, subject } = client;
    // A client that has disconnected gets no second end.
    if (concurrency === null || exchange.call.left)
      return admit(exchange, client, cost);
    const flight = flights.take(subject, concurrency, exchange);
    if (flight === null) return admit(exchange, client, cost);
    const retryAfter = retryAfterOf(flight);
    const isStruck = isIgnored(flight, client, retryAfter);
    const found = isStruck ? strike(flight, client) : readingOf(flight, client);
    const refusal = { flight, exchange, client, retryAfter };
    return found instanceof Promise
      ? found.then((usage) => refuse(refusal, usage))
      : refuse(refusal, found);
  };

  function refuse(
    { flight, exchange, client, retryAfter }: RefusedRequest,
    usage: Usage,
  ): Admitted | Refusal {
    if ('verdict' in usage && usage.verdict === 'banned')
      return judge(exchange, client, usage);
    exchange.usage = usage;
    const strikes = (usage.strikes ?? 0) + flight.strikes;
    const freeRefusals = freeRefusalsOf(flight, client);
    const { escalation } = client.limits;
    const warning = banWarning(escalation, { strikes, freeRefusals });
    return refusalOf(client, retryAfter, warning);
  }

  /** However many requests are refused, the state is read once per second. */
  function readingOf(
    flight: Flight,
    { subject, limits }: KnownClient,
  ): MaybePromise<Usage> {
    const { last, looked, lookedAt } = flight;
    const fresh = performance.now() - FRESH;
    if (last.usage !== null && last.admittedAt > Math.max(fresh, lookedAt)) {
      if (flight.read !== last) flight.strikes = 0;
      flight.read = last;
      return last.usage;
    }
    if (looked !== null && lookedAt > fresh) return looked;
    flight.looking ??= look(flight, state.look(subject, limits));
    return flight.looking;
  }

  /** In an outage of the state the last known usage is reported. */
  async function look(
    flight: Flight,
    pending: MaybePromise<Admission>,
  ): Promise<Usage> {
    const before = flight.strikes;
    try {
      const looked = noteLook(flight, await pending);
      flight.strikes -= before;
      return looked;
    } catch (error) {
      const known = flight.last.usage ?? flight.looked;
      if (known === null || !(error instanceof Outage)) throw error;
      return known;
    } finally {
      flight.looking = null;
    }
  }

  function strike(flight: Flight, client: KnownClient): MaybePromise<Usage> {
    const struck = state.strike(client.subject, client.limits);
    const usageAfter = (admission: Admission | null) => {
      if (admission !== null) return noteLook(flight, admission);
      const usage = readingOf(flight, client);
      flight.strikes += 1;
      return usage;
    };
    return struck instanceof Promise
      ? struck.then(usageAfter)
      : usageAfter(struck);
  }
}

function noteLook(flight: Flight, looked: Admission): Admission {
  flight.looked = looked;
  flight.lookedAt = performance.now();
  return looked;
}

/** Seconds. */
function retryAfterOf({ endedAt }: Flight): number {
  const elapsed = Math.floor((performance.now() - endedAt) / SECOND);
  return Math.min(Math.max(elapsed, MIN_RETRY_AFTER), MAX_RETRY_AFTER);
}

/** Whether this refusal is one more than the client's workers explain. */
function isIgnored(
  { wait }: Flight,
  { concurrency, limits: { escalation } }: KnownClient,
  retryAfter: number,
): boolean {
  if (escalation === null) return false;
  const now = performance.now();
  const retryAt = now + retryAfter * SECOND;
  return isStrike(wait, escalation, concurrency!, retryAt, now);
}

function freeRefusalsOf(
  { wait }: Flight,
  { concurrency, limits: { escalation } }: KnownClient,
): number {
  return escalation === null
    ? 0
    : freeAfter(wait, escalation, concurrency!, performance.now());
}

function hasBound({ plans, concurrencies, publicPlan }: Plans): boolean {
  if (concurrencies !== undefined || publicPlan?.concurrency !== undefined)
    return true;
  return [...plans.values()].some(
    ({ concurrency }) => concurrency !== undefined,
  );
}

function tooMany(
  { concurrency, subject }: KnownClient,
  retryAfter: number,
  { clause, headers }: BanWarning,
): Refusal {
  const whose = WHOSE[subject.slice(0, subject.indexOf(':'))] ?? 'this address';
  return new Refusal('too_many_in_flight', {
    message: `Too many open requests (limit ${concurrency} for ${whose}). Wait for a response and for Retry-After${clause && `: ${clause}`}.`,
    headers: ['Retry-After', `${retryAfter}`, ...headers],
  });
}

const WHOSE: Readonly<Record<string, string>> = {
  account: 'all keys of this account',
  key: 'this key',
};
