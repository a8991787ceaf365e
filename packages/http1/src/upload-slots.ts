import { createFairQueue, type QueueOwner, type Turn } from './fair-queue.ts';
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
export function createUploadSlots(connections: number, mostWaiting: number) {
  let most = slotsOf(connections);
  let used = 0;
  const entering = createFairQueue<Entering>(mostWaiting);

  function slot(turn: Turn<Entering> | null): UploadSlot {
    const since = performance.now();
    let isHeld = true;
    used++;
    return {
      free: () => {
        if (!isHeld) return;
        isHeld = false;
        used--;
        if (turn !== null) entering.end(turn, performance.now() - since);
        enterNext();
      },
    };
  }

  function enterNext(): void {
    while (used < most) {
      const turn = entering.next();
      if (turn === null) return;
      turn.item.resolve(slot(turn));
    }
  }

  return {
    use(connections: number, mostWaiting: number): void {
      most = slotsOf(connections);
      entering.most = mostWaiting;
      enterNext();
    },
    get waiting(): number {
      return entering.size;
    },
    /** Groups share the time of slots by weight. Rejects with PoolBusy. */
    take(
      owner: QueueOwner,
      deadline: number,
      waiter?: Waiter,
    ): UploadSlot | Promise<UploadSlot> {
      if (used < most && entering.size === 0) return slot(null);
      const one = Promise.withResolvers<UploadSlot>();
      waiter?.waits(() => entering.leave(one, owner));
      entering.add(one, owner, deadline)?.reject(new PoolBusy());
      return one.promise;
    },
    /** Those whose deadline is not after `end`. */
    refuseUntil(end: number, reason: Error): void {
      for (
        let one = entering.takeLate(end);
        one !== null;
        one = entering.takeLate(end)
      )
        one.reject(reason);
    },
  };
}

const slotsOf = (connections: number) =>
  Math.max(1, Math.floor(connections / 2));
