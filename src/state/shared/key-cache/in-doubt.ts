/** Maximum number of keys; dropping a key puts all rows read before its change in doubt. */
const MAX_KEYS = 50_000;

/**
 * Changed keys, and when the message arrived: a row of the cache is valid only if it was read later. Unix milliseconds.
 */
export class KeysInDoubt {
  /** Ordered by time. */
  readonly #heard = new Map<string, number>();
  #floor = 0;

  note(hash: string, now: number): void {
    this.#heard.delete(hash);
    this.#heard.set(hash, now);
    if (this.#heard.size <= MAX_KEYS) return;
    const [oldest, at] = this.#heard.entries().next().value!;
    this.#heard.delete(oldest);
    this.#floor = at;
  }

  /** Whether a row read at this time is valid. */
  isTrue(hash: string, readAt: number): boolean {
    return readAt >= (this.#heard.get(hash) ?? this.#floor);
  }

  /** All rows were read again at `time` or later. */
  settle(time: number): void {
    for (const [hash, at] of this.#heard) {
      if (at > time) return;
      this.#heard.delete(hash);
    }
  }
}
