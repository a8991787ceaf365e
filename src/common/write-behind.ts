import { setImmediate } from 'node:timers/promises';
import { createWakeableSleep } from './wakeable-sleep.ts';

/** Milliseconds. */
const RETRY_DELAY = 1_000;

interface WriteBehindOptions<T> {
  readonly write: (item: T) => Promise<boolean>;
  /** Beyond it items are lost. */
  readonly maxItems: number;
  /** Items between pauses, and the pause in milliseconds. */
  readonly batchSize: number;
  readonly pause: number;
  /** The number of lost items: at once for the first, then in total when the queue is empty. */
  readonly onDropped: (count: number) => void;
}

export function createWriteBehind<T>({
  write,
  maxItems,
  batchSize,
  pause,
  onDropped,
}: WriteBehindOptions<T>) {
  const waiting: T[] = [];
  const sleep = createWakeableSleep();
  let writing: Promise<void> | null = null;
  let lost = 0;
  let isFull = false;
  /** On the clock of `performance.now()`. */
  let giveUpAt: number | null = null;

  async function writeAll(): Promise<void> {
    // Lets the response be sent first.
    await setImmediate();
    for (let written = 0; waiting.length > 0; ) {
      const isDone = await write(waiting[0]!);
      if (isDone) {
        waiting.shift();
        written++;
      }
      if (giveUpAt !== null) {
        if (!isDone || performance.now() > giveUpAt) return;
      } else if (!isDone) await sleep.sleep(RETRY_DELAY);
      else if (waiting.length > 0 && written % batchSize === 0)
        await (pause === 0 ? setImmediate() : sleep.sleep(pause));
    }
    writing = null;
    reportLost();
  }

  function reportLost(): void {
    isFull = false;
    if (lost > 0) onDropped(lost);
    lost = 0;
  }

  return {
    add(item: T): boolean {
      if (giveUpAt !== null || waiting.length >= maxItems) {
        lost++;
        if (!isFull) reportLost();
        isFull = giveUpAt === null;
        return false;
      }
      waiting.push(item);
      writing ??= writeAll();
      return true;
    },
    /**
     * Stops at the first failed write or after `closeTimeout` milliseconds. The remaining items are
     * lost.
     */
    async close(closeTimeout = Number.POSITIVE_INFINITY): Promise<void> {
      giveUpAt ??= performance.now() + closeTimeout;
      sleep.wake();
      await writing;
      lost += waiting.splice(0).length;
      reportLost();
    },
  };
}
