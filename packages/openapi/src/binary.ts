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
  let pairs = 0;
  for (let i = 1; i < value.length; i++) if (isPair(value, i)) pairs++;
  return value.length - pairs;
}

const isPair = (text: string, end: number): boolean =>
  (text.charCodeAt(end) & 0xfc00) === 0xdc00 && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800;

export const isContent = (value: unknown): boolean => typeof value === 'string' || value instanceof Binary;
