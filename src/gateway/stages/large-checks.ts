import { createFairQueue, type QueueOwner, type Turn } from '@storegate/http1';
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
export function createLargeChecks() {
  const queue = createFairQueue<Waiting>(Number.POSITIVE_INFINITY);
  let busy = false;
  /** Milliseconds of turns since the last pause. */
  let spent = 0;

  return {
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
      return first?.done ? first.value : run(owner, steps, call);
    },
    run,
  };

  /** Rejects with what a step throws, or with ClientAbort. */
  function run<T>(
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
      queue.add(waiting, owner, Number.POSITIVE_INFINITY);
      if (!busy) next();
    });
  }

  function next(): void {
    let turn = queue.next();
    while (turn?.item.dropUnwanted()) {
      queue.end(turn, null);
      turn = queue.next();
    }
    busy = turn !== null;
    if (turn !== null) take(turn);
  }

  function take(turn: Turn<Waiting>): void {
    const began = performance.now();
    const over = turn.item.proceed();
    const cost = performance.now() - began;
    if (over) queue.end(turn, cost);
    else queue.again(turn, cost);
    spent += cost;
    if (over || spent >= STINT) pause();
    else setImmediate(next);
  }

  function pause(): void {
    setTimeout(next, spent);
    spent = 0;
  }
}

export type LargeChecks = ReturnType<typeof createLargeChecks>;

function turnOf<T>(steps: Iterator<void, T, void>): IteratorResult<void, T> {
  const end = performance.now() + TURN;
  for (;;) {
    const step = steps.next();
    if (step.done || performance.now() >= end) return step;
  }
}
