import type { MaybePromise } from '../../common/maybe-promise.ts';
import { Refusal } from '../../errors/refusals.ts';
import type { Readings } from '../../limits/admission.ts';
import type { Plans } from '../../limits/plans.ts';
import type { State } from '../../state/state.ts';
import type { Exchange } from '../exchange.ts';
import type { KnownClient } from '../results.ts';
import { type Admit, keepingLast } from './admit.ts';

/** Milliseconds. */
const FRESH = 1_000;

interface Flight {
  count: number;
  last: Exchange;
  looked: Readings | null;
  lookedAt: number;
  looking: Promise<Readings> | null;
}

export class Flights {
  readonly #bySubject = new Map<string, Flight>();

  /** Returns the requests in flight if there are `most` already. */
  take(subject: string, most: number, exchange: Exchange): Flight | null {
    let flight = this.#bySubject.get(subject);
    if (flight === undefined) {
      flight = { count: 0, last: exchange, looked: null, lookedAt: 0, looking: null };
      this.#bySubject.set(subject, flight);
    } else if (flight.count >= most) return flight;
    flight.count++;
    flight.last = exchange;
    exchange.call.whenEnded(() => {
      flight.count--;
      if (flight.count === 0) this.#bySubject.delete(subject);
    });
    return null;
  }

  of(subject: string): number {
    return this.#bySubject.get(subject)?.count ?? 0;
  }
}

export interface InFlightParts {
  readonly plans: Plans;
  readonly flights: Flights;
  readonly state: Pick<State, 'look'>;
  readonly admit: Admit;
}

/** The refusal does not call the state, charges no window and adds no strike. */
export function createInFlight({ plans, flights, state, admit }: InFlightParts): Admit {
  if (!hasBound(plans)) return admit;
  const refusalOf = keepingLast(tooMany);

  return function admitInFlight(exchange, client, cost, scopes) {
    const { concurrency, subject } = client;
    // A client that has disconnected gets no second end.
    if (concurrency === null || exchange.call.left) return admit(exchange, client, cost, scopes);
    const flight = flights.take(subject, concurrency, exchange);
    if (flight === null) return admit(exchange, client, cost, scopes);
    const refusal = refusalOf(concurrency, subject.slice(0, subject.indexOf(':')), null);
    const usage = readingOf(flight, client);
    if (!(usage instanceof Promise)) return failWith(exchange, usage, refusal);
    return usage.then((looked) => failWith(exchange, looked, refusal));
  };

  /** However many requests are refused, the state is called once per second. */
  function readingOf(flight: Flight, { subject, limits }: KnownClient): MaybePromise<Readings> {
    const { last, looked, lookedAt } = flight;
    const fresh = performance.now() - FRESH;
    if (last.usage !== null && last.admittedAt > fresh) return last.usage;
    if (looked !== null && lookedAt > fresh) return looked;
    flight.looking ??= look(flight, subject, limits);
    return flight.looking;
  }

  async function look(flight: Flight, subject: string, limits: KnownClient['limits']): Promise<Readings> {
    try {
      flight.looked = await state.look(subject, limits);
      flight.lookedAt = performance.now();
      return flight.looked;
    } finally {
      flight.looking = null;
    }
  }
}

function hasBound({ plans, concurrencies, publicPlan }: Plans): boolean {
  if (concurrencies !== undefined || publicPlan?.concurrency !== undefined) return true;
  return [...plans.values()].some(({ concurrency }) => concurrency !== undefined);
}

function failWith(exchange: Exchange, usage: Readings, refusal: Refusal): Refusal {
  exchange.usage = usage;
  return refusal;
}

function tooMany(most: number, kind: string): Refusal {
  const whose =
    kind === 'account' ? 'for all keys of this account' : kind === 'key' ? 'for this key' : 'for this address';
  return new Refusal('too_many_in_flight', {
    message: `Too many concurrent requests (max ${most} ${whose}). Wait for a response; this counts against no quota and causes no ban.`,
    headers: ['Retry-After', '1'],
  });
}
