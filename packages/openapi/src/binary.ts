import { hash } from 'node:crypto';

/**
 * Bytes in the place of a string of `format: binary`: a file of a multipart body, or a body that is no text. A check takes
 * their number for the length. They are not copied.
 */
export class Binary {
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** In bytes. */
  get size(): number {
    return this.#bytes.length;
  }

  /** Equal for equal bytes. */
  get digest(): string {
    return hash('sha256', this.#bytes);
  }
}

/** The length of a string in characters, or of bytes; NaN for any other value. */
export function sizeOf(value: unknown): number {
  if (value instanceof Binary) return value.size;
  if (typeof value !== 'string') return Number.NaN;
  let characters = 0;
  for (const _ of value) characters++;
  return characters;
}

/** Whether the value is one that a schema of `type: string` and `format: binary` describes. */
export const isContent = (value: unknown): boolean => typeof value === 'string' || value instanceof Binary;
