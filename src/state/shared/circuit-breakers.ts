import { CircuitBreaker } from '../../common/circuit-breaker.ts';
import type { RedisSettings } from '../../config/config.ts';
import type { Observe } from '../../observe/events.ts';
import { type Connection, lookAround, reasonOf, shardOf } from '../redis/client.ts';
import { keyOf, PROBE_LIFE } from '../redis/key-names.ts';
import { slotOf } from '../redis/slots.ts';
import { withDeadline } from './deadline.ts';

/** Parts of Redis that fail apart: one Redis is one lane, each master of a Cluster is one. */
export interface CircuitBreakers {
  /** The breaker on the way to a subject. */
  of(subject: string): CircuitBreaker;
  /** Whether any is away. */
  readonly away: boolean;
  /** Calls back when one is well again. */
  recovered(listener: () => void): void;
  close(): void;
}

export function createCircuitBreakers(
  redis: Connection,
  settings: Pick<RedisSettings, 'misses' | 'deadline' | 'whenAway'>,
  observe: Observe,
): CircuitBreakers {
  const breakers = new Map<string, CircuitBreaker>();
  const listeners: (() => void)[] = [];
  let open = 0;
  let since = 0;

  function create(subject: string): CircuitBreaker {
    return new CircuitBreaker({
      misses: settings.misses,
      // A write, because a Redis that only reads is of no use. It goes where this subject's ledger is now.
      probe() {
        lookAround(redis);
        return withDeadline(redis.set(keyOf.probe(subject), '', 'PX', PROBE_LIFE), settings.deadline);
      },
      opened(reason) {
        if (open++ > 0) return;
        since = performance.now();
        observe({ type: 'state.outage', policy: settings.whenAway, error: reasonOf(redis, reason) });
      },
      closed() {
        if (--open === 0) observe({ type: 'state.recovered', after: Math.round(performance.now() - since) });
        for (const listener of listeners) listener();
      },
    });
  }

  return {
    of(subject) {
      const name = shardOf(redis, () => slotOf(subject));
      let breaker = breakers.get(name);
      if (!breaker) {
        breaker = create(subject);
        breakers.set(name, breaker);
      }
      return breaker;
    },
    get away() {
      return open > 0;
    },
    recovered: (listener) => void listeners.push(listener),
    close() {
      for (const breaker of breakers.values()) breaker.stop();
    },
  };
}
