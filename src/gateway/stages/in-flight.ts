import { Refusal } from '../../common/errors/refusals.ts';
import type { MaybePromise } from '../../common/maybe-promise.ts';
import { SECOND } from '../../common/time.ts';
import type { Admission, Readings } from '../../limits/admission.ts';
import { isStrike } from '../../limits/ban-escalation.ts';
import { noWait, type Wait } from '../../limits/counters.ts';
import type { Plans } from '../../limits/plans.ts';
import type { State } from '../../state/state.ts';
import type { Exchange } from '../exchange.ts';
import type { Admitted, KnownClient } from '../results.ts';
import { type Admit, type Judge, keepingLast } from './admit.ts';

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
  looking: Promise<Admission> | null;
  /** The wait after a refusal. */
  readonly wait: Wait;
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

  return function admitInFlight(exchange, client, cost, scopes) {
    const { concurrency, subject } = client;
    // A client that has disconnected gets no second end.
    if (concurrency === null || exchange.call.left)
      return admit(exchange, client, cost, scopes);
    const flight = flights.take(subject, concurrency, exchange);
    if (flight === null) return admit(exchange, client, cost, scopes);
    const retryAfter = retryAfterOf(flight);
    const isStruck = isIgnored(flight, client, retryAfter);
    const found = isStruck ? strike(flight, client) : readingOf(flight, client);
    return found instanceof Promise
      ? found.then((usage) => refuse(exchange, client, usage, retryAfter))
      : refuse(exchange, client, found, retryAfter);
  };

  function refuse(
    exchange: Exchange,
    client: KnownClient,
    usage: Usage,
    retryAfter: number,
  ): Admitted | Refusal {
    if ('verdict' in usage && usage.verdict === 'banned')
      return judge(exchange, client, usage);
    exchange.usage = usage;
    const { concurrency, subject } = client;
    return refusalOf(
      concurrency!,
      subject.slice(0, subject.indexOf(':')),
      retryAfter,
    );
  }

  /** However many requests are refused, the state is read once per second. */
  function readingOf(
    flight: Flight,
    { subject, limits }: KnownClient,
  ): MaybePromise<Usage> {
    const { last, looked, lookedAt } = flight;
    const fresh = performance.now() - FRESH;
    if (last.usage !== null && last.admittedAt > Math.max(fresh, lookedAt))
      return last.usage;
    if (looked !== null && lookedAt > fresh) return looked;
    flight.looking ??= look(flight, state.look(subject, limits));
    return flight.looking;
  }

  async function look(
    flight: Flight,
    asked: MaybePromise<Admission>,
  ): Promise<Admission> {
    try {
      return noteLook(flight, await asked);
    } finally {
      flight.looking = null;
    }
  }

  function strike(flight: Flight, client: KnownClient): MaybePromise<Usage> {
    const struck = state.strike(client.subject, client.limits);
    const usageAfter = (admission: Admission | null) =>
      admission === null
        ? readingOf(flight, client)
        : noteLook(flight, admission);
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
  { limits: { escalation } }: KnownClient,
  retryAfter: number,
): boolean {
  if (escalation === null) return false;
  const now = performance.now();
  return isStrike(wait, escalation, now + retryAfter * SECOND, now);
}

function hasBound({ plans, concurrencies, publicPlan }: Plans): boolean {
  if (concurrencies !== undefined || publicPlan?.concurrency !== undefined)
    return true;
  return [...plans.values()].some(
    ({ concurrency }) => concurrency !== undefined,
  );
}

function tooMany(most: number, kind: string, retryAfter: number): Refusal {
  const whose =
    kind === 'account'
      ? 'for all keys of this account'
      : kind === 'key'
        ? 'for this key'
        : 'for this address';
  return new Refusal('too_many_in_flight', {
    message: `Too many concurrent requests (max ${most} ${whose}). Wait for a response; refused requests count against no quota.`,
    headers: ['Retry-After', `${retryAfter}`],
  });
}
