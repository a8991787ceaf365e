import {
  type CircuitBreaker,
  createCircuitBreaker,
} from '../../common/circuit-breaker.ts';
import { Outage } from '../../common/errors/outage.ts';
import { MINUTE } from '../../common/time.ts';
import type { Observe } from '../../observe/events.ts';
import { throttle } from '../../observe/throttle.ts';
import { CountersError, DataError } from '../state.ts';
import { withDeadline } from './deadline.ts';
import type { OutageSettings, Shards } from './remote-state.ts';

/** Milliseconds between two warnings about single records, or of one message about all data. */
const WARNING_INTERVAL = MINUTE;

export type CircuitBreakers = ReturnType<typeof createCircuitBreakers>;

/** One circuit breaker for each shard. */
export function createCircuitBreakers(
  shards: Shards,
  {
    failureThreshold,
    deadline,
    onOutage,
  }: Pick<OutageSettings, 'failureThreshold' | 'deadline' | 'onOutage'>,
  observe: Observe,
) {
  const breakers = new Map<string, CircuitBreaker>();
  const listeners = new Set<() => void>();
  const throttled = throttle(WARNING_INTERVAL);
  let open = 0;
  let since = 0;

  function create(name: string): CircuitBreaker {
    return createCircuitBreaker({
      failureThreshold,
      probe: () => withDeadline(shards.probe(name), deadline),
      opened(reason) {
        if (open++ > 0) return;
        since = performance.now();
        observe({
          type: 'state.outage',
          policy: onOutage,
          error: shards.reasonOf(reason),
        });
      },
      closed() {
        if (--open === 0)
          observe({
            type: 'state.recovered',
            duration: Math.round(performance.now() - since),
          });
        for (const listener of listeners) listener();
      },
    });
  }

  /** `name`: a subject, or the hash of a key. */
  function of(name: string): CircuitBreaker {
    const shard = shards.shardOf(name);
    let breaker = breakers.get(shard);
    if (!breaker) {
      breaker = create(name);
      breakers.set(shard, breaker);
    }
    return breaker;
  }

  return {
    of,
    open: (reason: unknown) => of('start').open(reason),
    /** Records a failed call. An invalid record of one subject only logs a warning. */
    recordFailure(breaker: CircuitBreaker, error: unknown) {
      const cause = error instanceof Outage ? error.cause : error;
      if (!(cause instanceof CountersError))
        return breaker.recordFailure(cause);
      const kind = cause instanceof DataError ? cause.message : 'record';
      if (throttled(kind) !== null)
        observe({ type: 'state.warning', warning: cause.message });
    },
    get anyOpen() {
      return open > 0;
    },
    /** Returns a function that stops it. */
    onRecovery(listener: () => void): () => void {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close() {
      for (const breaker of breakers.values()) breaker.stop();
    },
  };
}
