interface Sized {
  /** `put` it again after each change. */
  bytes: number;
  /** -1: outside. */
  place: number;
}

export type LargestFirst<T extends Sized> = ReturnType<
  typeof createLargestFirst<T>
>;

/** A heap whose items know their places, so that any of them can be moved or taken out. */
export function createLargestFirst<T extends Sized>() {
  const items: T[] = [];

  function settle(item: T): void {
    while (item.place > 0) {
      const parent = items[(item.place - 1) >> 1]!;
      if (parent.bytes >= item.bytes) break;
      swap(item, parent);
    }
    while (2 * item.place + 1 < items.length) {
      const child = largerChild(item.place);
      if (child.bytes <= item.bytes) return;
      swap(item, child);
    }
  }

  /** There is a left one at least. */
  function largerChild(place: number): T {
    const left = items[2 * place + 1]!;
    if (2 * place + 2 === items.length) return left;
    const right = items[2 * place + 2]!;
    return right.bytes > left.bytes ? right : left;
  }

  function swap(one: T, other: T): void {
    const { place } = one;
    set(other.place, one);
    set(place, other);
  }

  function set(place: number, item: T): void {
    items[place] = item;
    item.place = place;
  }

  return {
    get first(): T | undefined {
      return items[0];
    },
    put(item: T): void {
      if (item.place < 0) item.place = items.push(item) - 1;
      settle(item);
    },
    take(item: T): void {
      const { place } = item;
      if (place < 0) return;
      item.place = -1;
      const last = items.pop()!;
      if (last === item) return;
      set(place, last);
      settle(last);
    },
  };
}
