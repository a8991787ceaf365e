/**
 * Copies what it gets. In a list, thousands of tiny chunks would each retain the whole read they
 * came in.
 */
export class ByteBuffer {
  readonly #most: number;
  #buffer: Buffer | null = null;
  size = 0;

  /** `most`: bytes, if known. */
  constructor(most = Number.POSITIVE_INFINITY) {
    this.#most = most;
  }

  get capacity(): number {
    return this.#buffer?.length ?? 0;
  }

  add(chunk: Buffer): void {
    if (this.#buffer === null) {
      this.#buffer = Buffer.from(chunk);
    } else {
      if (this.size + chunk.length > this.#buffer.length)
        this.#grow(this.size + chunk.length);
      chunk.copy(this.#buffer, this.size);
    }
    this.size += chunk.length;
  }

  get whole(): Buffer | null {
    return this.size === 0 ? null : this.#buffer!.subarray(0, this.size);
  }

  #grow(size: number): void {
    const larger = Buffer.allocUnsafeSlow(
      Math.max(size, Math.min(this.#most, Math.max(1024, 2 * size))),
    );
    this.#buffer!.copy(larger, 0, 0, this.size);
    this.#buffer = larger;
  }
}
