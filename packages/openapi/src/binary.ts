import { hash } from 'node:crypto';
import { loop, work } from './schema/pauses.ts';

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
  return PAIR.test(value) ? value.length - pairsIn(value) : value.length;
}

const PAIR = /[\ud800-\udbff][\udc00-\udfff]/;

/** In characters. */
const STEP = 16 * 1024;

function pairsIn(text: string): number {
  const { pairs } = loop(
    PAIR,
    text,
    { next: 0, pairs: 0 },
    Math.ceil(text.length / STEP),
    (i, state) => {
      const end = Math.min(text.length, (i + 1) * STEP);
      let pairs = 0;
      for (let at = Math.max(1, i * STEP); at < end; at++)
        if (isPair(text, at)) pairs++;
      work.left -= end - i * STEP;
      state.pairs += pairs;
      return true;
    },
  );
  return pairs;
}

const isPair = (text: string, end: number) =>
  (text.charCodeAt(end) & 0xfc00) === 0xdc00 &&
  (text.charCodeAt(end - 1) & 0xfc00) === 0xd800;

export const isContent = (value: unknown): boolean =>
  typeof value === 'string' || value instanceof Binary;
