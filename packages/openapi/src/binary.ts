import { hash } from 'node:crypto';

/** Length checks count the bytes, which are not copied. */
export class Binary {
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get size(): number {
    return this.#bytes.length;
  }

  get digest(): string {
    return hash('sha256', this.#bytes);
  }
}

/** In characters or bytes; NaN for any other value. */
export function sizeOf(value: unknown): number {
  if (value instanceof Binary) return value.size;
  if (typeof value !== 'string') return Number.NaN;
  let characters = 0;
  for (const _ of value) characters++;
  return characters;
}

export const isContent = (value: unknown): boolean => typeof value === 'string' || value instanceof Binary;
