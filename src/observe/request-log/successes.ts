import { SECOND } from '../../common/time.ts';
import type { RequestEvent } from '../events.ts';
import { keptEvent, type Notes, type RequestLogEntry } from './view.ts';

/**
 * Kept objects survive young collections, which costs more than admission itself. Of more requests
 * per second a buffer would hold less than ten seconds.
 */
const MOST_PER_SECOND = 500;

interface Success extends RequestLogEntry {
  /** Counts all successes, kept or not. */
  readonly number: number;
}

/** The last successes, as a ring. */
export function createSuccessBuffer(initially: number) {
  let capacity = initially;
  let kept: Success[] = [];
  /** The oldest, once the ring is full. */
  let oldest = 0;
  let number = 0;
  let second = 0;
  let inSecond = 0;

  function put(
    event: RequestEvent,
    notes: Notes | null,
    endedAt: number,
  ): void {
    number++;
    if (capacity === 0 || isOver(Math.floor(endedAt / SECOND))) return;
    const success = {
      event: keptEvent(event),
      notes,
      endedAt,
      number,
      repeated: 0,
    };
    if (kept.length < capacity) {
      kept.push(success);
      return;
    }
    kept[oldest] = success;
    oldest = (oldest + 1) % capacity;
  }

  function isOver(now: number): boolean {
    if (now !== second) inSecond = 0;
    second = now;
    return inSecond++ >= MOST_PER_SECOND;
  }

  /** Keeps what fits. */
  function use(next: number): void {
    const inOrder = [...kept.slice(oldest), ...kept.slice(0, oldest)];
    capacity = next;
    kept = inOrder.slice(Math.max(0, inOrder.length - capacity));
    oldest = 0;
  }

  function find(id: string): RequestLogEntry | null {
    return kept.find(({ event }) => event.id === id) ?? null;
  }

  return {
    put,
    use,
    find,
    get capacity() {
      return capacity;
    },
    /** Of the successes since the oldest kept one, 0 to 1. */
    get share() {
      return kept.length === 0
        ? 1
        : kept.length / (number - kept[oldest]!.number + 1);
    },
    /**
     * The end of the oldest, Unix milliseconds, but not after that of the newest; 0: nothing was
     * dropped.
     */
    get since() {
      if (capacity === 0 || kept.length < capacity) return 0;
      const newest = kept.at(oldest - 1)!;
      return Math.min(kept[oldest]!.endedAt, newest.endedAt);
    },
  };
}
