import { ByteBuffer } from '@storegate/http1';
import { DelayedRun } from '../../common/delayed-run.ts';
import { SharedBudget } from '../../common/shared-budget.ts';
import { Refusal } from '../../errors/refusals.ts';
import type { Exchange } from '../exchange.ts';
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

interface Arrival {
  readonly owner: string;
  gathering: ByteBuffer;
  held: number;
  /** `null`: it began after the last check. */
  seen: number | null;
  readonly refuse: (refusal: Refusal) => void;
}

/** A client that sends many bodies, or sends slowly, takes nothing from others. */
export class Bodies {
  readonly #every: number;
  #minRate: number;
  readonly #budget: SharedBudget;
  readonly #arriving = new Set<Arrival>();
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
   * `owner`: the id of its key. 100 Continue is sent only after the key and the declared length were accepted (RFC 9110
   * section 10.1.1). Rejects with a Refusal or ClientAbort.
   */
  async read({ call, head }: Pick<Exchange, 'call' | 'head'>, most: number, owner: string): Promise<Buffer | null> {
    if (!call.hasBody) return null;
    if (call.framing !== 'chunked' && call.framing > most) throw tooLarge(most);
    if (call.bodyError) throw bodyFailure(call.bodyError);
    if (head.expect !== undefined) call.sendContinue();
    return new Promise((resolve, reject) => {
      const refuse = (refusal: Refusal) => {
        // A pause would retain one read of each body.
        call.dropBody();
        this.#release(arrival);
        reject(refusal);
      };
      const arrival: Arrival = { owner, gathering: new ByteBuffer(), held: 0, seen: null, refuse };
      this.#arriving.add(arrival);
      this.#next.plan();
      call.whenEnded(() => this.#release(arrival));
      call.readBody({
        chunk: (bytes) => {
          if (arrival.gathering.size + bytes.length > most) refuse(tooLarge(most));
          // When room returns is unknown; most bodies need a second.
          else if (!this.#add(arrival, bytes))
            refuse(new Refusal('gateway_busy', { headers: ['Retry-After', '1'], close: true }));
          return true;
        },
        end: () => {
          this.#arriving.delete(arrival);
          resolve(arrival.gathering.whole);
        },
        fail: (error) => {
          this.#arriving.delete(arrival);
          reject(bodyFailure(error));
        },
      });
    });
  }

  close(): void {
    this.#next.close();
  }

  #add(arrival: Arrival, chunk: Buffer): boolean {
    arrival.gathering.add(chunk);
    const grown = arrival.gathering.capacity - arrival.held;
    if (!this.#budget.take(arrival.owner, grown)) return false;
    arrival.held += grown;
    return true;
  }

  #release(arrival: Arrival): void {
    this.#arriving.delete(arrival);
    this.#budget.release(arrival.owner, arrival.held);
    arrival.held = 0;
    arrival.gathering = new ByteBuffer();
  }

  #refuseSlow(): void {
    const minRate = this.#minRate;
    for (const arrival of this.#arriving) {
      const { size } = arrival.gathering;
      if (arrival.seen !== null && size - arrival.seen < (minRate * this.#every) / 1000)
        arrival.refuse(tooSlow(minRate));
      arrival.seen = size;
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
