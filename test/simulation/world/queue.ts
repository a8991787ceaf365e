export interface Planned {
  readonly at: number;
  readonly order: number;
  isCancelled: boolean;
  readonly work: () => void;
}

/** Events by time, and by order of planning at equal times: a binary heap. */
export class EventQueue {
  readonly #heap: Planned[] = [];

  /** The next event that was not cancelled. */
  peek(): Planned | null {
    while (this.#heap[0]?.isCancelled) this.#pop();
    return this.#heap[0] ?? null;
  }

  push(event: Planned): void {
    const heap = this.#heap;
    let at = heap.push(event) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(event, heap[parent]!)) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = event;
  }

  take(): void {
    this.#pop();
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop()!;
    if (heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      const right = heap[child + 1];
      if (right !== undefined && isBefore(right, heap[child]!)) child++;
      if (!isBefore(heap[child]!, last)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
  }
}

export function isBefore(one: Planned, other: Planned): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order);
}
