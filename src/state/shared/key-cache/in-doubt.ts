/** Changed keys whose change the copy may not have yet. Bounded: what is forgotten makes all other rows as old as it doubtful. */
const MAX_KEYS = 50_000;

/** Keys that were changed, and when that was heard: a row of the copy is true only if it was read later. Unix milliseconds. */
export class KeysInDoubt {
  /** In the order of the times. */
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

  /** Whether what was read at this time is true as far as was heard. */
  isTrue(hash: string, readAt: number): boolean {
    return readAt >= (this.#heard.get(hash) ?? this.#floor);
  }

  /** Every row was read again at `time` or later. */
  settle(time: number): void {
    for (const [hash, at] of this.#heard) {
      if (at > time) return;
      this.#heard.delete(hash);
    }
  }
}
