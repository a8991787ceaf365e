import { ByteBuffer } from '@storegate/http1';
import { SharedBudget } from '../../common/shared-budget.ts';
import { Refusal } from '../../errors/refusals.ts';
import type { Call } from './call.ts';
import type { Head } from './head.ts';
import { bodyFailure, tooLarge } from './wire-refusals.ts';

export interface BodiesSettings {
  /** Bytes that all bodies under way may hold together. */
  readonly budget: number;
  /** Bytes a second that a body must bring; 0: none. */
  readonly minRate: number;
}

export interface BodiesOptions extends BodiesSettings {
  /** Milliseconds between two looks at the bodies that arrive. */
  readonly every?: number;
}

const EVERY = 5_000;

/** A request whose body may still be on its way. */
export interface Incoming {
  readonly call: Call;
  readonly head: Pick<Head, 'expect'>;
}

/** A body on its way. */
interface Arrival {
  readonly owner: string;
  gathering: ByteBuffer;
  /** Of the budget, bytes. */
  held: number;
  /** Its size at the last look; `null`: it came after that. */
  seen: number | null;
  /** Gives it up. */
  readonly refuse: (refusal: Refusal) => void;
}

/**
 * Reads the bodies of requests, and bounds what all of them together hold in memory: a caller that sends many, or sends them
 * slowly, takes nothing from others. A body holds its bytes until its request is answered.
 */
export class Bodies {
  readonly #every: number;
  #minRate: number;
  readonly #budget: SharedBudget;
  readonly #arriving = new Set<Arrival>();
  readonly #timer: NodeJS.Timeout;

  constructor(options: BodiesOptions) {
    this.#minRate = options.minRate;
    this.#budget = new SharedBudget(options.budget);
    this.#every = options.every ?? EVERY;
    this.#timer = setInterval(() => this.#refuseSlow(), this.#every).unref();
  }

  /** What these settings say holds for the next bytes of every body. */
  use(settings: BodiesSettings): void {
    this.#minRate = settings.minRate;
    this.#budget.most = settings.budget;
  }

  /** Bytes that bodies hold now. */
  get held(): number {
    return this.#budget.held;
  }

  /** Bytes that they may hold. */
  get budget(): number {
    return this.#budget.most;
  }

  /**
   * Reads the whole body, at most `most` bytes; `null` when there is none. `owner`: the id of its key. A caller that asked is
   * told to go on only here, after its key and its declared length were found good (RFC 9110 section 10.1.1). Rejects with a
   * Refusal (too large, too slow, malformed, no room) or CallerLeft.
   */
  async read({ call, head }: Incoming, most: number, owner: string): Promise<Buffer | null> {
    if (!call.hasBody) return null;
    if (call.framing !== 'chunked' && call.framing > most) throw tooLarge(most);
    if (call.bodyError) throw bodyFailure(call.bodyError);
    if (head.expect !== undefined) call.sendContinue();
    return new Promise((resolve, reject) => {
      const refuse = (refusal: Refusal) => {
        // What was read of it is of no use, and what still comes is dropped: a pause would keep a read of each.
        call.dropBody();
        this.#arriving.delete(arrival);
        this.#release(arrival);
        reject(refusal);
      };
      const arrival: Arrival = { owner, gathering: new ByteBuffer(), held: 0, seen: null, refuse };
      this.#arriving.add(arrival);
      call.whenEnded(() => {
        this.#arriving.delete(arrival);
        this.#release(arrival);
      });
      call.readBody({
        chunk: (bytes) => {
          if (arrival.gathering.size + bytes.length > most) refuse(tooLarge(most));
          else if (!this.#add(arrival, bytes)) refuse(noRoom());
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
    clearInterval(this.#timer);
  }

  /** Answers whether there was room. */
  #add(arrival: Arrival, chunk: Buffer): boolean {
    arrival.gathering.add(chunk);
    const grown = arrival.gathering.capacity - arrival.held;
    if (!this.#budget.take(arrival.owner, grown)) return false;
    arrival.held += grown;
    return true;
  }

  #release(arrival: Arrival): void {
    this.#budget.giveBack(arrival.owner, arrival.held);
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
  }
}

/** Nobody knows when there is room again; a second is what most bodies need. */
function noRoom(): Refusal {
  return new Refusal('gateway_busy', { headers: ['Retry-After', '1'], close: true });
}

function tooSlow(minRate: number): Refusal {
  return new Refusal('request_timeout', {
    message: `The request body arrived at less than ${minRate} bytes per second. Send it without pauses.`,
    close: true,
  });
}
