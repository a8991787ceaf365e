import { FairQueue, type QueueOwner, type Turn } from '@storegate/http1';
import type { MaybePromise } from '../../common/maybe-promise.ts';
import type { Exchange } from '../exchange.ts';
import type { Call } from '../wire/call.ts';
import { ClientAbort } from '../wire/client-abort.ts';

/** Bytes. */
const LARGE = 64 * 1024;
/** Milliseconds, rounded up to whole steps. */
const TURN = 2;
/**
 * Milliseconds of turns, after which the event loop is free for as long. A timer is too coarse for
 * each turn.
 */
const STINT = 20;

/** Without `steps`, which do what `check` does, it is one step. */
interface BodyCheck<T> {
  check(body: Buffer): T;
  steps?(body: Buffer): Iterator<void, T, void>;
}

/** Both return whether it is over. */
interface Waiting {
  readonly dropUnwanted: () => boolean;
  readonly proceed: () => boolean;
}

/**
 * One turn at a time: plans by weight, and in a plan one body after another, accounts in turn.
 * After a body or a stint the event loop is free for the same time, so that large bodies use at
 * most half of the process.
 */
export class LargeChecks {
  readonly #waiting = new FairQueue<Waiting>(Number.POSITIVE_INFINITY);
  #busy = false;
  /** Milliseconds of turns since the last pause. */
  #spent = 0;

  /**
   * A large body, and a smaller one after its first turn, waits for its owner's turn. Rejects with
   * ClientAbort if the client disconnected.
   */
  inTurn<T>(
    { call }: Pick<Exchange, 'call'>,
    owner: QueueOwner,
    body: Buffer,
    by: BodyCheck<T>,
  ): MaybePromise<T> {
    const steps = by.steps?.(body) ?? {
      next: () => ({ done: true, value: by.check(body) }),
    };
    const first = body.length < LARGE ? turnOf(steps) : null;
    return first?.done ? first.value : this.run(owner, steps, call);
  }

  /** Rejects with what a step throws, or with ClientAbort. */
  run<T>(
    owner: QueueOwner,
    steps: Iterator<void, T, void>,
    call: Pick<Call, 'left'>,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        dropUnwanted() {
          if (!call.left) return false;
          reject(new ClientAbort());
          return true;
        },
        proceed() {
          try {
            const step = turnOf(steps);
            if (!step.done) return false;
            resolve(step.value);
          } catch (error) {
            reject(error);
          }
          return true;
        },
      };
      this.#waiting.add(waiting, owner, Number.POSITIVE_INFINITY);
      if (!this.#busy) this.#next();
    });
  }

  readonly #next = (): void => {
    let turn = this.#waiting.next();
    while (turn?.item.dropUnwanted()) {
      this.#waiting.end(turn, null);
      turn = this.#waiting.next();
    }
    this.#busy = turn !== null;
    if (turn !== null) this.#take(turn);
  };

  #take(turn: Turn<Waiting>): void {
    const began = performance.now();
    const over = turn.item.proceed();
    const spent = performance.now() - began;
    if (over) this.#waiting.end(turn, spent);
    else this.#waiting.again(turn, spent);
    this.#spent += spent;
    if (over || this.#spent >= STINT) this.#pause();
    else setImmediate(this.#next);
  }

  #pause(): void {
    setTimeout(this.#next, this.#spent);
    this.#spent = 0;
  }
}

function turnOf<T>(steps: Iterator<void, T, void>): IteratorResult<void, T> {
  const end = performance.now() + TURN;
  for (;;) {
    const step = steps.next();
    if (step.done || performance.now() >= end) return step;
  }
}
