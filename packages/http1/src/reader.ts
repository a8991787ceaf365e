import { ByteBuffer } from './byte-buffer.ts';
import { Chunks } from './chunks.ts';
import { mayBecomeHead } from './grammar.ts';
import type { Head } from './heads.ts';
import { malformed, WireError } from './wire-error.ts';

/** `head`, any number of `body`, then `end`. */
export interface MessageSink<H extends Head> {
  head(head: H): void;
  /** Copy the bytes to keep them after the call. */
  body(bytes: Buffer): void;
  end(): void;
}

export interface ReaderOptions<H extends Head> {
  /** One character per byte, with the empty line. Throws WireError. */
  readonly parse: (text: string) => H;
  readonly sink: MessageSink<H>;
  readonly mostHeadBytes: number;
  /** RFC 9112 section 2.2: some clients send an empty line after a body. */
  readonly skipsEmptyLine: boolean;
}

const CR = 0x0d;
const LF = 0x0a;
const HEAD_END = '\r\n\r\n';
const USUAL_HEAD_BYTES = 1_024;

/**
 * One message at a time. Reads each byte a bounded number of times, however the bytes are split.
 */
export class MessageReader<H extends Head> {
  readonly #options: ReaderOptions<H>;
  #place: 'head' | 'body' | 'behind' | 'stopped' = 'head';
  #skipped = false;
  #begun: ByteBuffer | null = null;
  #rest: Buffer | null = null;
  #restAt = 0;
  #ahead = 0;
  /** Infinity: until the connection closes. */
  #remaining = 0;
  #chunks: Chunks | null = null;

  constructor(options: ReaderOptions<H>) {
    this.#options = options;
  }

  get inMessage(): boolean {
    return this.#place === 'body' || this.#begun !== null;
  }

  get inBody(): boolean {
    return this.#place === 'body';
  }

  /** During `head`, includes its body. */
  get waiting(): number {
    return (
      this.#ahead + (this.#rest === null ? 0 : this.#rest.length - this.#restAt)
    );
  }

  /** After a WireError nothing more may be fed. */
  feed(bytes: Buffer): void {
    const at = this.#read(bytes, 0);
    if (at === bytes.length) return;
    const rest = bytes.subarray(at);
    // Copied once: the caller may reuse its buffer.
    this.#rest = Buffer.concat(
      this.#rest === null ? [rest] : [this.#rest.subarray(this.#restAt), rest],
    );
    this.#restAt = 0;
  }

  /** After a complete message. Throws WireError. */
  next(): void {
    this.#place = 'head';
    const rest = this.#rest;
    if (rest === null) return;
    this.#rest = null;
    const at = this.#read(rest, this.#restAt);
    if (at === rest.length) return;
    this.#rest = rest;
    this.#restAt = at;
  }

  #read(bytes: Buffer, from: number): number {
    let at = from;
    while (at < bytes.length) {
      if (this.#place === 'head') at = this.#head(bytes, at);
      else if (this.#place === 'body') at = this.#body(bytes, at);
      else if (this.#place === 'stopped') return bytes.length;
      else return at;
    }
    return at;
  }

  stop(): void {
    this.#place = 'stopped';
    this.#begun = null;
    this.#rest = null;
    this.#chunks?.stop();
    this.#chunks = null;
  }

  takeRest(): Buffer | null {
    const rest = this.#rest?.subarray(this.#restAt) ?? null;
    this.#rest = null;
    return rest;
  }

  /** The other side closed the connection. Throws WireError if that truncates a message. */
  finish(): void {
    const endsSo =
      this.#place === 'body' &&
      this.#chunks === null &&
      this.#remaining === Number.POSITIVE_INFINITY;
    if (endsSo) this.#over(0);
    else if (this.inMessage)
      throw new WireError('cut_off', 'The connection ended inside a message.');
  }

  #head(bytes: Buffer, at: number): number {
    if (this.#begun !== null) return this.#more(bytes, at);
    if (bytes[at] === CR && bytes[at + 1] === LF && this.#maySkip)
      return this.#skip(at + 2);
    const { mostHeadBytes } = this.#options;
    const most = Math.min(bytes.length, at + mostHeadBytes);
    const usual = Math.min(most, at + USUAL_HEAD_BYTES);
    let text = bytes.toString('latin1', at, usual);
    let end = text.indexOf(HEAD_END);
    if (end < 0 && usual < most) {
      text = bytes.toString('latin1', at, most);
      end = text.indexOf(HEAD_END);
    }
    if (end < 0) {
      this.#begun = new ByteBuffer();
      return this.#more(bytes, at);
    }
    const size = end + HEAD_END.length;
    this.#take(
      size === text.length ? text : text.slice(0, size),
      bytes.length - at - size,
    );
    return at + size;
  }

  get #maySkip(): boolean {
    return this.#options.skipsEmptyLine && !this.#skipped;
  }

  #skip(next: number): number {
    this.#skipped = true;
    this.#begun = null;
    return next;
  }

  #more(bytes: Buffer, at: number): number {
    const begun = this.#begun!;
    const { mostHeadBytes } = this.#options;
    const before = begun.size;
    if (
      before === 1 &&
      begun.whole![0] === CR &&
      bytes[at] === LF &&
      this.#maySkip
    )
      return this.#skip(at + 1);
    const space = mostHeadBytes - before;
    begun.add(bytes.subarray(at, at + space));
    const whole = begun.whole!;
    const overlap = Math.max(0, before - HEAD_END.length);
    const text = whole.toString('latin1', overlap);
    const found = text.indexOf(HEAD_END);
    if (found < 0) {
      if (!mayBecomeHead(text, overlap === 0))
        throw malformed(isClientHello(whole) ? TLS_ON_PLAIN_PORT : NOT_TEXT);
      if (begun.size >= mostHeadBytes) throw tooLarge(whole, mostHeadBytes);
      return Math.min(bytes.length, at + space);
    }
    const end = overlap + found + HEAD_END.length;
    this.#begun = null;
    const next = at + end - before;
    this.#take(whole.toString('latin1', 0, end), bytes.length - next);
    return next;
  }

  #take(text: string, ahead: number): void {
    const { parse, sink, mostHeadBytes } = this.#options;
    this.#skipped = false;
    const head = parse(text);
    const { framing } = head;
    this.#place = 'body';
    this.#chunks =
      framing === 'chunked'
        ? new Chunks((bytes) => sink.body(bytes), mostHeadBytes)
        : null;
    this.#remaining =
      typeof framing === 'number' ? framing : Number.POSITIVE_INFINITY;
    const isWhole = this.#remaining === 0;
    this.#ahead = ahead;
    sink.head(head);
    this.#ahead = 0;
    if (isWhole) this.#over(ahead);
  }

  #body(bytes: Buffer, at: number): number {
    if (this.#chunks !== null) {
      const chunks = this.#chunks;
      const next = chunks.take(bytes, at);
      if (chunks.over) this.#over(bytes.length - next);
      return next;
    }
    const next = Math.min(bytes.length, at + this.#remaining);
    this.#remaining -= next - at;
    this.#options.sink.body(
      at === 0 && next === bytes.length ? bytes : bytes.subarray(at, next),
    );
    if (this.#remaining === 0) this.#over(bytes.length - next);
    return next;
  }

  #over(ahead: number): void {
    // The sink may have stopped the reader in its last call.
    if (this.#place === 'stopped') return;
    this.#place = 'behind';
    this.#chunks = null;
    this.#remaining = 0;
    this.#ahead = ahead;
    this.#options.sink.end();
    this.#ahead = 0;
  }
}

const NOT_TEXT =
  'The head has a control character, or a line end other than CR LF. Remove the character, or end lines with CR LF.';
const TLS_ON_PLAIN_PORT = 'This port does not use TLS. Use http://.';

/** A handshake record of TLS 1.x (RFC 8446 section 5.1). */
function isClientHello(bytes: Buffer): boolean {
  return bytes[0] === 0x16 && (bytes.length < 2 || bytes[1] === 0x03);
}

/** If the request line has no end, the target is too long. */
function tooLarge(whole: Buffer, most: number): WireError {
  return whole.indexOf(LF) < 0
    ? new WireError(
        'target_too_long',
        `The request line exceeds ${most} bytes.`,
      )
    : new WireError('head_too_large', `The headers exceed ${most} bytes.`);
}
