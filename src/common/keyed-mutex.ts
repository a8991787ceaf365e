/** Serializes work of one name. */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<void>>();

  take<T>(name: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(name);
    const turn = before ? before.then(work) : work();
    const through = turn
      .catch(() => {})
      .then(() => {
        if (this.#last.get(name) === through) this.#last.delete(name);
      });
    this.#last.set(name, through);
    return turn;
  }
}
