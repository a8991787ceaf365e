/**
 * Work of one name runs one after the other, in the order in which it was asked for; work of different names runs at
 * once.
 */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<void>>();

  /** Runs `work` once all work of this name that came before is through, however that ended. */
  take<T>(name: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(name);
    const turn = before ? before.then(work) : work();
    const through = turn
      .then(
        () => {},
        () => {},
      )
      .then(() => {
        if (this.#last.get(name) === through) this.#last.delete(name);
      });
    this.#last.set(name, through);
    return turn;
  }
}
