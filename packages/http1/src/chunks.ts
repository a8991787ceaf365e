import { ByteBuffer } from './byte-buffer.ts';
import { checkTrailers } from './fields.ts';
import { CHUNK_LINE } from './grammar.ts';
import { malformed, WireError } from './wire-error.ts';

const CR = 0x0d;
const LF = 0x0a;
const MOST_EXTENSIONS = 16 * 1024;
const LONGEST_LINE = MOST_EXTENSIONS + 32;

type Place = 'size' | 'data' | 'cr' | 'lf' | 'trailers' | 'over';

/**
 * RFC 9112 section 7.1, strict; extensions and trailers are bounded and dropped. The data of one
 * read is passed on in one piece, so small chunks cost no more than large ones.
 */
export class Chunks {
  readonly #data: (bytes: Buffer) => void;
  readonly #mostTrailers: number;
  #place: Place = 'size';
  #remaining = 0;
  #extensions = 0;
  #trailers = '';
  #read: Buffer | null = null;
  #readBytes = 0;
  #begun: ByteBuffer | null = null;
  /** With its end; null if that has not arrived. */
  #text: string | null = null;

  /** `mostTrailers` is in bytes. */
  constructor(data: (bytes: Buffer) => void, mostTrailers: number) {
    this.#data = data;
    this.#mostTrailers = mostTrailers;
  }

  get over(): boolean {
    return this.#place === 'over';
  }

  /** Returns the index after the last byte of the body. Throws WireError. */
  take(bytes: Buffer, at: number): number {
    let next = at;
    try {
      while (next < bytes.length && this.#place !== 'over') {
        if (this.#place === 'size') next = this.#size(bytes, next);
        else if (this.#place === 'data') next = this.#chunk(bytes, next);
        else if (this.#place === 'trailers') next = this.#trailer(bytes, next);
        else next = this.#lineEnd(bytes, next);
      }
    } finally {
      this.#handOver();
    }
    return next;
  }

  #handOver(): void {
    const read = this.#read;
    if (read === null) return;
    this.#read = null;
    this.#data(
      read.length === this.#readBytes
        ? read
        : read.subarray(0, this.#readBytes),
    );
  }

  stop(): void {
    this.#place = 'over';
  }

  #size(bytes: Buffer, at: number): number {
    const next = this.#line(bytes, at, LONGEST_LINE);
    const text = this.#text;
    if (text === null) return next;
    const line = text.endsWith('\r\n')
      ? CHUNK_LINE.exec(text.slice(0, -2))
      : null;
    if (line === null)
      throw malformed(
        'The size of a chunk is not valid. Send up to 13 hexadecimal digits.',
      );
    this.#extensions += line[2]!.length;
    if (this.#extensions > MOST_EXTENSIONS) throw tooLarge('size');
    this.#remaining = Number.parseInt(line[1]!, 16);
    this.#place = this.#remaining === 0 ? 'trailers' : 'data';
    return next;
  }

  #chunk(bytes: Buffer, at: number): number {
    const next = Math.min(bytes.length, at + this.#remaining);
    this.#remaining -= next - at;
    if (this.#remaining === 0) this.#place = 'cr';
    if (this.#read === null) {
      this.#read =
        at === 0 && next === bytes.length ? bytes : bytes.subarray(at, next);
      this.#readBytes = next - at;
      return next;
    }
    const before = this.#readBytes;
    // The rest of this read is at most as long as its unread bytes.
    if (this.#read.length === before)
      this.#read = Buffer.concat([this.#read], before + bytes.length - at);
    bytes.copy(this.#read, before, at, next);
    this.#readBytes += next - at;
    return next;
  }

  #lineEnd(bytes: Buffer, at: number): number {
    const isCr = this.#place === 'cr';
    if (bytes[at] !== (isCr ? CR : LF))
      throw malformed(
        'The data of a chunk is longer than its size. Send the size in bytes, and CR LF after the data.',
      );
    this.#place = isCr ? 'lf' : 'size';
    return at + 1;
  }

  #trailer(bytes: Buffer, at: number): number {
    const next = this.#line(
      bytes,
      at,
      this.#mostTrailers - this.#trailers.length,
    );
    const text = this.#text;
    if (text === null) return next;
    if (!text.endsWith('\r\n'))
      throw malformed(
        'A trailer does not end in CR LF. End each line with CR LF.',
      );
    this.#trailers += text;
    if (text.length > 2) return next;
    checkTrailers(this.#trailers);
    this.#place = 'over';
    return next;
  }

  #line(bytes: Buffer, at: number, most: number): number {
    const end = bytes.indexOf(LF, at);
    const next = end < 0 ? bytes.length : end + 1;
    const begun = this.#begun;
    if ((begun?.size ?? 0) + next - at > most) throw tooLarge(this.#place);
    this.#text =
      end >= 0 && begun === null
        ? bytes.toString('latin1', at, next)
        : this.#more(bytes.subarray(at, next));
    return next;
  }

  #more(bytes: Buffer): string | null {
    this.#begun ??= new ByteBuffer();
    this.#begun.add(bytes);
    if (bytes[bytes.length - 1] !== LF) return null;
    const text = this.#begun.whole!.toString('latin1');
    this.#begun = null;
    return text;
  }
}

function tooLarge(place: Place): WireError {
  return place === 'size'
    ? new WireError(
        'extensions_too_large',
        'The chunk extensions are too large.',
      )
    : new WireError('head_too_large', 'The trailers are too large.');
}
