import { COLUMNS } from './row.ts';

const FIRST_SIZE = 256;
/** Bytes of the largest number. */
const LONGEST = 8;

/** Whole numbers from 0 to 2^53 in seven bits per byte, lowest first. */
export class Packing {
  #bytes = Buffer.allocUnsafeSlow(FIRST_SIZE);
  #size = 0;

  number(value: number): void {
    this.#freeSpace(LONGEST);
    let rest = value;
    while (rest >= 0x80) {
      this.#bytes[this.#size++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#bytes[this.#size++] = rest;
  }

  part(bytes: Uint8Array): void {
    this.number(bytes.length);
    this.#freeSpace(bytes.length);
    this.#bytes.set(bytes, this.#size);
    this.#size += bytes.length;
  }

  get bytes(): Buffer {
    return Buffer.from(this.#bytes.subarray(0, this.#size));
  }

  #freeSpace(length: number): void {
    if (this.#size + length <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(2 * (this.#size + length));
    larger.set(this.#bytes.subarray(0, this.#size));
    this.#bytes = larger;
  }
}

export class NotPacked extends Error {
  override name = 'NotPacked';
}

/** Throws NotPacked. */
export class Unpacking {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  number(): number {
    const byte = this.#bytes[this.#at]!;
    if (byte < 0x80) {
      this.#at++;
      return byte;
    }
    return this.#longNumber();
  }

  #longNumber(): number {
    const bytes = this.#bytes;
    let at = this.#at;
    let value = 0;
    for (let scale = 1; scale <= Number.MAX_SAFE_INTEGER; scale *= 0x80) {
      const byte = bytes[at++];
      if (byte === undefined) break;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80 && value <= Number.MAX_SAFE_INTEGER) {
        this.#at = at;
        return value;
      }
    }
    throw new NotPacked('a number is cut off or too large');
  }

  /** All at once, which is several times as fast. */
  numbers(into: Float64Array, count: number): void {
    const bytes = this.#bytes;
    let at = this.#at;
    let i = 0;
    // Most columns have small numbers.
    while (i < count && bytes[at]! < 0x80) into[i++] = bytes[at++]!;
    for (; i < count; i++) {
      const byte = bytes[at]!;
      const next = bytes[at + 1]!;
      const third = bytes[at + 2]!;
      if (byte < 0x80) {
        into[i] = byte;
        at += 1;
      } else if (next < 0x80) {
        into[i] = (byte & 0x7f) | (next << 7);
        at += 2;
      } else if (third < 0x80) {
        into[i] = (byte & 0x7f) | ((next & 0x7f) << 7) | (third << 14);
        at += 3;
      } else {
        this.#at = at;
        into[i] = this.#longNumber();
        at = this.#at;
      }
    }
    this.#at = at;
  }

  text(): string {
    const { buffer, byteOffset, byteLength } = this.part();
    return Buffer.from(buffer, byteOffset, byteLength).toString();
  }

  /** A view of the bytes, not a copy. */
  part(): Uint8Array {
    const length = this.number();
    const part = this.#bytes.subarray(this.#at, this.#at + length);
    if (part.length < length) throw new NotPacked('a part is cut off');
    this.#at += length;
    return part;
  }
}

/** Run-length: each value other than 0 follows the number of zeros before it. */
export function packRow(row: Iterable<number>): Buffer {
  const packing = new Packing();
  let zeros = 0;
  for (const count of row) {
    if (count === 0) zeros++;
    else {
      packing.number(zeros);
      packing.number(count);
      zeros = 0;
    }
  }
  return packing.bytes;
}

/** Throws NotPacked, perhaps with a part added. */
export function addPacked(sum: Float64Array, packed: Uint8Array): void {
  const row = new Unpacking(packed);
  for (let at = 0; !row.isAtEnd; at++) {
    at += row.number();
    if (at >= sum.length) throw new NotPacked('a row has too many columns');
    sum[at]! += row.number();
  }
}

/** In Base64. */
export const rowText = (row: Iterable<number>): string =>
  packRow(row).toString('base64');

/** Throws NotPacked. */
export function rowIn(text: string): Float64Array {
  const row = new Float64Array(COLUMNS);
  addPacked(row, Buffer.from(text, 'base64'));
  return row;
}

export function isRowText(value: unknown): value is string {
  try {
    return typeof value === 'string' && rowIn(value).length === COLUMNS;
  } catch (error) {
    if (error instanceof NotPacked) return false;
    throw error;
  }
}
