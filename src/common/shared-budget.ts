/** The largest share of one owner, so that it cannot take all the memory. */
const SHARE = 1 / 4;

/** Bytes of memory that owners share. */
export class SharedBudget {
  /** Maximum in bytes; a lower value applies to later calls only. */
  most: number;
  #held = 0;
  readonly #heldBy = new Map<string, number>();

  constructor(most: number) {
    this.most = most;
  }

  get held(): number {
    return this.#held;
  }

  /** Returns whether there was room. */
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
