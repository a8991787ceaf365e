import { Cache } from '../../common/cache.ts';
import { networkOf } from '../../common/callers/address.ts';
import { createGuard, type Guard } from '../../common/callers/guard.ts';
import { CircuitBreaker } from '../../common/circuit-breaker.ts';
import type { Window } from '../../limits/limits.ts';
import type { Observe } from '../../observe/events.ts';
import type { Channel } from './channel.ts';
import type { PrimaryCalls, WorkerCalls } from './protocol.ts';

/** Milliseconds. */
const DEADLINE = 1_000;
const REMEMBERED = 10_000;

export interface SharedGuardOptions {
  readonly primary: Pick<Channel<PrimaryCalls, WorkerCalls>, 'call'>;
  readonly failures: number;
  /** Milliseconds. */
  readonly window: number;
  readonly workers: number;
  readonly observe: Observe;
}

/**
 * The primary process counts for all workers. Without it, each worker counts up to its share of the
 * failures, so that together they never allow more than one process would.
 */
export function createSharedGuard(
  options: SharedGuardOptions,
): Guard & { close(): void } {
  const { primary, failures, window: span, workers, observe } = options;
  const window: Window = {
    name: 'failures',
    kind: 'fixed',
    limit: failures,
    span,
  };
  const alone = createGuard({
    failures: Math.max(1, Math.floor(failures / workers)),
    window: span,
  });
  /**
   * Address to the end of its window: Unix milliseconds, and on the clock of `performance.now()`.
   */
  const exhausted = new Cache<{
    readonly resetAt: number;
    readonly until: number;
  }>(REMEMBERED);
  const silence = new CircuitBreaker({
    failureThreshold: 1,
    probe: () => primary.call('look', 'unknown', DEADLINE),
    opened: (error) => observe({ type: 'primary.unresponsive', error }),
    closed: () => observe({ type: 'primary.responsive' }),
  });

  function known(caller: string) {
    const found = exhausted.get(caller);
    if (found === undefined || performance.now() >= found.until) return null;
    const now = Date.now();
    const resetAt = Math.min(found.resetAt, now + span);
    return {
      readings: [{ window, used: window.limit, resetAt }],
      now,
      exhausted: true,
    };
  }

  async function ask<N extends 'fail' | 'look'>(name: N, address: string) {
    if (silence.isOpen) return await alone[name](address);
    try {
      return await primary.call(name, address, DEADLINE);
    } catch (error) {
      silence.recordFailure(error);
      return await alone[name](address);
    }
  }

  return {
    async fail(address) {
      const caller = networkOf(address);
      const before = known(caller);
      if (before) return before;
      const usage = (await ask('fail', address)) as Awaited<
        ReturnType<Guard['fail']>
      >;
      if (!usage.exhausted) return usage;
      const { resetAt } = usage.readings[0]!;
      exhausted.set(caller, {
        resetAt,
        until: performance.now() + resetAt - usage.now,
      });
      return usage;
    },
    look: async (address) =>
      known(networkOf(address)) ?? (await ask('look', address)),
    close: () => silence.stop(),
  };
}
