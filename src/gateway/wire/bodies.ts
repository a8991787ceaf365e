import type { QueueOwner, StreamedBody } from '@storegate/http1';
import { createDelayedRun } from '../../common/delayed-run.ts';
import { Refusal } from '../../common/errors/refusals.ts';
import { createInTurns } from '../../common/in-turns.ts';
import { createSharedBudget } from '../../common/shared-budget.ts';
import type { Exchange } from '../exchange.ts';
import { Arrival } from './arrival.ts';
import { bodyFailure, tooLarge } from './wire-refusals.ts';

export interface BodiesSettings {
  /** Bytes. */
  readonly budget: number;
  /** Bytes per second; 0: none. */
  readonly minRate: number;
  /** Milliseconds between checks of the rate. */
  readonly every?: number;
}

const EVERY = 5_000;
/** Bytes. A smaller body is read whole before a backend is asked. */
const STREAMED_FROM = 1024 ** 2;

interface Reading {
  readonly most: number;
  readonly owner: QueueOwner;
  readonly streamedFrom: number;
}

/** A client that sends many bodies, or sends slowly, takes nothing from others. */
export function createBodies(settings: BodiesSettings) {
  let { minRate } = settings;
  const { every = EVERY } = settings;
  const budget = createSharedBudget(settings.budget);
  const arriving = new Set<Arrival>();
  const later = createInTurns();
  const next = createDelayedRun(refuseSlow, every);

  return {
    /** Read its `held` and `most`. */
    budget,
    use(next: BodiesSettings): void {
      minRate = next.minRate;
      budget.most = next.budget;
    },
    /**
     * 100 Continue is sent only after the key and the declared length were accepted (RFC 9110 section
     * 10.1.1). Rejects with a Refusal or ClientAbort.
     */
    read(
      exchange: Pick<Exchange, 'call' | 'head'>,
      most: number,
      owner: QueueOwner,
    ): Promise<Buffer | null> {
      const whole = take(exchange, { most, owner, streamedFrom: most });
      return whole as Promise<Buffer | null>;
    },
    /**
     * For a body that is not checked: of a large one, the rest may still arrive. Otherwise as `read`.
     */
    begin(
      exchange: Pick<Exchange, 'call' | 'head'>,
      most: number,
      owner: QueueOwner,
    ): Promise<Buffer | StreamedBody | null> {
      return take(exchange, { most, owner, streamedFrom: STREAMED_FROM });
    },
    close: () => next.close(),
  };

  async function take(
    { call, head }: Pick<Exchange, 'call' | 'head'>,
    reading: Reading,
  ): Promise<Buffer | StreamedBody | null> {
    const { most } = reading;
    if (!call.hasBody) return null;
    if (call.framing !== 'chunked' && call.framing > most) throw tooLarge(most);
    if (call.bodyError) throw bodyFailure(call.bodyError);
    if (head.expect !== undefined) call.sendContinue();
    return new Promise((resolve, reject) => {
      const arrival = new Arrival(call, {
        ...reading,
        budget,
        later,
        resolve,
        reject,
        ended: () => arriving.delete(arrival),
      });
      arriving.add(arrival);
      next.plan();
      call.whenEnded(() => arrival.release());
      arrival.begin();
    });
  }

  function refuseSlow(): void {
    const least = (minRate * every) / 1000;
    for (const arrival of arriving) {
      const arrived = arrival.arrivedSinceLast();
      if (arrived !== null && arrived < least) arrival.refuse(tooSlow(minRate));
    }
    if (arriving.size > 0) next.plan();
  }
}

export type Bodies = ReturnType<typeof createBodies>;

function tooSlow(minRate: number): Refusal {
  return new Refusal('request_timeout', {
    message: `The request body arrived at less than ${minRate} bytes per second. Send it without pauses.`,
    close: true,
  });
}
