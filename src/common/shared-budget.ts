const SHARE = 1 / 4;

/** In bytes. */
export class SharedBudget {
  /** A lower value applies to later calls only. */
  most: number;
  #held = 0;
  readonly #heldBy = new Map<string, number>();

  constructor(most: number) {
    this.most = most;
  }

  get held(): number {
    return this.#held;
  }

  take(owner: string, bytes: number): boolean {
    const own = (this.#heldBy.get(owner) ?? 0) + bytes;
    if (this.#held + bytes > this.most || own > this.most * SHARE) return false;
    this.#held += bytes;
    this.#heldBy.set(owner, own);
    return true;
  }

  release(owner: string, bytes: number): void {
    const own = (this.#heldBy.get(owner) ?? 0) - bytes;
    if (own > 0) this.#heldBy.set(owner, own);
    else this.#heldBy.delete(owner);
    this.#held -= bytes;
  }
}
