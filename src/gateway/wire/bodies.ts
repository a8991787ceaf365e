import type { QueueOwner, StreamedBody } from '@storegate/http1';
import { DelayedRun } from '../../common/delayed-run.ts';
import { Refusal } from '../../common/errors/refusals.ts';
import { InTurns } from '../../common/in-turns.ts';
import { SharedBudget } from '../../common/shared-budget.ts';
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
export class Bodies {
  readonly #every: number;
  #minRate: number;
  readonly #budget: SharedBudget;
  readonly #arriving = new Set<Arrival>();
  readonly #later = new InTurns();
  readonly #next: DelayedRun;

  constructor({ budget, minRate, every = EVERY }: BodiesSettings) {
    this.#minRate = minRate;
    this.#budget = new SharedBudget(budget);
    this.#every = every;
    this.#next = new DelayedRun(() => this.#refuseSlow(), this.#every);
  }

  use(settings: BodiesSettings): void {
    this.#minRate = settings.minRate;
    this.#budget.most = settings.budget;
  }

  get held(): number {
    return this.#budget.held;
  }

  get budget(): number {
    return this.#budget.most;
  }

  /**
   * 100 Continue is sent only after the key and the declared length were accepted (RFC 9110 section
   * 10.1.1). Rejects with a Refusal or ClientAbort.
   */
  read(
    exchange: Pick<Exchange, 'call' | 'head'>,
    most: number,
    owner: QueueOwner,
  ): Promise<Buffer | null> {
    return this.#take(exchange, {
      most,
      owner,
      streamedFrom: most,
    }) as Promise<Buffer | null>;
  }

  /**
   * For a body that is not checked: of a large one, the rest may still arrive. Otherwise as `read`.
   */
  begin(
    exchange: Pick<Exchange, 'call' | 'head'>,
    most: number,
    owner: QueueOwner,
  ): Promise<Buffer | StreamedBody | null> {
    return this.#take(exchange, { most, owner, streamedFrom: STREAMED_FROM });
  }

  close(): void {
    this.#next.close();
  }

  async #take(
    { call, head }: Pick<Exchange, 'call' | 'head'>,
    { most, owner, streamedFrom }: Reading,
  ): Promise<Buffer | StreamedBody | null> {
    if (!call.hasBody) return null;
    if (call.framing !== 'chunked' && call.framing > most) throw tooLarge(most);
    if (call.bodyError) throw bodyFailure(call.bodyError);
    if (head.expect !== undefined) call.sendContinue();
    return new Promise((resolve, reject) => {
      const arrival = new Arrival(call, {
        most,
        streamedFrom,
        owner,
        budget: this.#budget,
        later: this.#later,
        resolve,
        reject,
        ended: () => this.#arriving.delete(arrival),
      });
      this.#arriving.add(arrival);
      this.#next.plan();
      call.whenEnded(() => arrival.release());
      arrival.begin();
    });
  }

  #refuseSlow(): void {
    const least = (this.#minRate * this.#every) / 1000;
    for (const arrival of this.#arriving) {
      const arrived = arrival.arrivedSinceLast();
      if (arrived !== null && arrived < least)
        arrival.refuse(tooSlow(this.#minRate));
    }
    if (this.#arriving.size > 0) this.#next.plan();
  }
}

function tooSlow(minRate: number): Refusal {
  return new Refusal('request_timeout', {
    message: `The request body arrived at less than ${minRate} bytes per second. Send it without pauses.`,
    close: true,
  });
}
