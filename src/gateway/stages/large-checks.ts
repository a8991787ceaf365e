import type { MaybePromise } from '../../common/maybe-promise.ts';
import type { Exchange } from '../exchange.ts';
import type { Call } from '../wire/call.ts';
import { ClientAbort } from '../wire/client-abort.ts';

/** Bytes. */
const LARGE = 64 * 1024;
/** Milliseconds, rounded up to whole steps. */
const TURN = 2;

/** Without `steps`, which do what `check` does, it is one step. */
export interface BodyCheck<T> {
  check(body: Buffer): T;
  steps?(body: Buffer): Iterator<void, T, void>;
}

/** Both return whether it is over. */
interface Waiting {
  readonly dropUnwanted: () => boolean;
  readonly proceed: () => boolean;
}

/**
 * One at a time, owners in turn, a few steps in each turn of the event loop. After each, the event loop is free for the
 * same time, so that large bodies use at most half of the process.
 */
export class LargeChecks {
  /** The first owner is next. */
  readonly #waiting = new Map<string, Waiting[]>();
  #busy = false;

  /** A large body waits for its owner's turn, and rejects with ClientAbort if the client disconnected. */
  inTurn<T>({ call }: Pick<Exchange, 'call'>, owner: string, body: Buffer, by: BodyCheck<T>): MaybePromise<T> {
    if (body.length < LARGE) return by.check(body);
    return this.run(owner, by.steps?.(body) ?? { next: () => ({ done: true, value: by.check(body) }) }, call);
  }

  /** Rejects with what a step throws, or with ClientAbort. */
  run<T>(owner: string, steps: Iterator<void, T, void>, call: Pick<Call, 'left'>): Promise<T> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        dropUnwanted() {
          if (!call.left) return false;
          reject(new ClientAbort());
          return true;
        },
        proceed() {
          const end = performance.now() + TURN;
          try {
            let step = steps.next();
            while (!step.done && performance.now() < end) step = steps.next();
            if (!step.done) return false;
            resolve(step.value);
          } catch (error) {
            reject(error);
          }
          return true;
        },
      };
      const own = this.#waiting.get(owner);
      if (own === undefined) this.#waiting.set(owner, [waiting]);
      else own.push(waiting);
      if (!this.#busy) this.#next();
    });
  }

  readonly #next = (): void => {
    const next = this.#take();
    this.#busy = next !== null;
    if (next !== null) this.#proceed(next, 0);
  };

  /** `before`: milliseconds of earlier turns. */
  #proceed(next: Waiting, before: number): void {
    const began = performance.now();
    const over = next.dropUnwanted() || next.proceed();
    const spent = before + performance.now() - began;
    if (over) setTimeout(this.#next, spent);
    else setImmediate(() => this.#proceed(next, spent));
  }

  #take(): Waiting | null {
    for (const [owner, own] of this.#waiting) {
      this.#waiting.delete(owner);
      for (let first = own.shift(); first !== undefined; first = own.shift()) {
        if (first.dropUnwanted()) continue;
        if (own.length > 0) this.#waiting.set(owner, own);
        return first;
      }
    }
    return null;
  }
}
