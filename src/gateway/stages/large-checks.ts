import type { MaybePromise } from '../../common/maybe-promise.ts';
import type { Exchange } from '../exchange.ts';
import { ClientAbort } from '../wire/client-abort.ts';

/** Bytes. */
const LARGE = 64 * 1024;

interface Waiting {
  readonly check: () => void;
  readonly drop: () => void;
  readonly isWanted: () => boolean;
}

/**
 * One at a time, owners in turn. After each, the event loop is free for the same time, so that large bodies use at most
 * half of the process.
 */
export class LargeChecks {
  /** The first owner is next. */
  readonly #waiting = new Map<string, Waiting[]>();
  #busy = false;

  /** A large body waits for its owner's turn, and rejects with ClientAbort if the client disconnected. */
  inTurn<T>({ call }: Pick<Exchange, 'call'>, owner: string, body: Buffer | null, check: () => T): MaybePromise<T> {
    if (body === null || body.length < LARGE) return check();
    return this.run(
      owner,
      check,
      () => !call.left,
      () => new ClientAbort(),
    );
  }

  /** Rejects with what `check` throws, or with `unwanted()` if the client disconnected. */
  run<T>(owner: string, check: () => T, isWanted: () => boolean, unwanted: () => Error): Promise<T> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        isWanted,
        drop: () => reject(unwanted()),
        check() {
          try {
            resolve(check());
          } catch (error) {
            reject(error);
          }
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
    if (next === null) return;
    const began = performance.now();
    next.check();
    setTimeout(this.#next, performance.now() - began);
  };

  #take(): Waiting | null {
    for (const [owner, own] of this.#waiting) {
      this.#waiting.delete(owner);
      for (let first = own.shift(); first !== undefined; first = own.shift()) {
        if (!first.isWanted()) {
          first.drop();
          continue;
        }
        if (own.length > 0) this.#waiting.set(owner, own);
        return first;
      }
    }
    return null;
  }
}
