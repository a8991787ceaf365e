/** First in, first out, in constant time. */
export class Queue<T> {
  #items: (T | undefined)[] = [];
  #first = 0;

  get size(): number {
    return this.#items.length - this.#first;
  }

  get oldest(): T | undefined {
    return this.#items[this.#first];
  }

  add(item: T): void {
    this.#items.push(item);
  }

  takeOldest(): T | undefined {
    const item = this.#items[this.#first];
    if (item === undefined) return undefined;
    this.#items[this.#first] = undefined;
    this.#first++;
    // The free part is never larger than the used one, which keeps removal in amortized constant time.
    if (this.#first * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#first);
      this.#first = 0;
    }
    return item;
  }

  *newestFirst(): Iterable<T> {
    for (let i = this.#items.length - 1; i >= this.#first; i--) yield this.#items[i]!;
  }
}
