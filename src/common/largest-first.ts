interface Sized {
  /** `put` it again after each change. */
  bytes: number;
  /** -1: outside. */
  place: number;
}

/** A heap whose items know their places, so that any of them can be moved or taken out. */
export class LargestFirst<T extends Sized> {
  readonly #items: T[] = [];

  get first(): T | undefined {
    return this.#items[0];
  }

  put(item: T): void {
    if (item.place < 0) item.place = this.#items.push(item) - 1;
    this.#settle(item);
  }

  take(item: T): void {
    const { place } = item;
    if (place < 0) return;
    item.place = -1;
    const last = this.#items.pop()!;
    if (last === item) return;
    this.#set(place, last);
    this.#settle(last);
  }

  #settle(item: T): void {
    while (item.place > 0) {
      const parent = this.#items[(item.place - 1) >> 1]!;
      if (parent.bytes >= item.bytes) break;
      this.#swap(item, parent);
    }
    while (2 * item.place + 1 < this.#items.length) {
      const child = this.#largerChild(item.place);
      if (child.bytes <= item.bytes) return;
      this.#swap(item, child);
    }
  }

  /** There is a left one at least. */
  #largerChild(place: number): T {
    const left = this.#items[2 * place + 1]!;
    if (2 * place + 2 === this.#items.length) return left;
    const right = this.#items[2 * place + 2]!;
    return right.bytes > left.bytes ? right : left;
  }

  #swap(one: T, other: T): void {
    const { place } = one;
    this.#set(other.place, one);
    this.#set(place, other);
  }

  #set(place: number, item: T): void {
    this.#items[place] = item;
    item.place = place;
  }
}
