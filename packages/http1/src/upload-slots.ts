import { FairQueue, type QueueOwner, type Turn } from './fair-queue.ts';
import { PoolBusy, type Waiter } from './pool-busy.ts';

/** Of one upload, while it waits for a connection or holds one. */
export interface UploadSlot {
  /** Further calls do nothing. */
  free(): void;
}

type Entering = Pick<PromiseWithResolvers<UploadSlot>, 'resolve' | 'reject'>;

/**
 * Clients set the pace of streamed uploads, so these hold at most half of the connections: others
 * do not wait for them.
 */
export class UploadSlots {
  #most: number;
  #used = 0;
  readonly #entering: FairQueue<Entering>;

  constructor(connections: number, mostWaiting: number) {
    this.#most = slotsOf(connections);
    this.#entering = new FairQueue(mostWaiting);
  }

  use(connections: number, mostWaiting: number): void {
    this.#most = slotsOf(connections);
    this.#entering.most = mostWaiting;
    this.#enterNext();
  }

  get waiting(): number {
    return this.#entering.size;
  }

  /** Groups share the time of slots by weight. Rejects with PoolBusy. */
  take(
    owner: QueueOwner,
    deadline: number,
    waiter?: Waiter,
  ): UploadSlot | Promise<UploadSlot> {
    if (this.#used < this.#most && this.#entering.size === 0)
      return this.#slot(null);
    const entering = Promise.withResolvers<UploadSlot>();
    waiter?.waits(() => this.#entering.leave(entering, owner));
    this.#entering.add(entering, owner, deadline)?.reject(new PoolBusy());
    return entering.promise;
  }

  /** Those whose deadline is not after `end`. */
  refuseUntil(end: number, reason: Error): void {
    for (
      let one = this.#entering.takeLate(end);
      one !== null;
      one = this.#entering.takeLate(end)
    )
      one.reject(reason);
  }

  #slot(turn: Turn<Entering> | null): UploadSlot {
    const since = performance.now();
    let isHeld = true;
    this.#used++;
    return {
      free: () => {
        if (!isHeld) return;
        isHeld = false;
        this.#used--;
        if (turn !== null) this.#entering.end(turn, performance.now() - since);
        this.#enterNext();
      },
    };
  }

  #enterNext(): void {
    while (this.#used < this.#most) {
      const turn = this.#entering.next();
      if (turn === null) return;
      turn.item.resolve(this.#slot(turn));
    }
  }
}

const slotsOf = (connections: number) =>
  Math.max(1, Math.floor(connections / 2));
