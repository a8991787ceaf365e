import { ByteBuffer } from './byte-buffer.ts';
import { Chunks } from './chunks.ts';
import { mayBecomeHead } from './grammar.ts';
import type { Head } from './heads.ts';
import { malformed, WireError } from './wire-error.ts';

/** Takes the messages of one connection, part by part. `head`, then any number of `body`, then `end`. */
export interface MessageSink<H extends Head> {
  head(head: H): void;
  /** The bytes are those that were fed: who keeps them longer than the call and reuses the buffer, copies them. */
  body(bytes: Buffer): void;
  end(): void;
}

export interface ReaderOptions<H extends Head> {
  /** Reads the text of a head, one character per byte, with the empty line. Throws WireError. */
  readonly parse: (text: string) => H;
  readonly sink: MessageSink<H>;
  /** Bytes of a head, and of the trailers of a body. */
  readonly mostHeadBytes: number;
  /** Whether one empty line may stand before a head (RFC 9112 section 2.2): some callers send it behind a body. */
  readonly skipsEmptyLine: boolean;
}

const CR = 0x0d;
const LF = 0x0a;
const HEAD_END = '\r\n\r\n';
/** Bytes that are looked at first: behind a head there may be many other requests, or a body. */
const USUAL_HEAD_BYTES = 1_024;

/**
 * Cuts the bytes of a connection into messages. Has no I/O. Stops behind each message: the bytes after it wait until `next`,
 * so that one message is dealt with at a time. It reads each byte a bounded number of times, however they are split.
 */
export class MessageReader<H extends Head> {
  readonly #options: ReaderOptions<H>;
  #place: 'head' | 'body' | 'behind' | 'stopped' = 'head';
  #skipped = false;
  /** A head that has only begun. */
  #begun: ByteBuffer | null = null;
  /** Bytes behind the message that was read last, from `#restAt` on. */
  #rest: Buffer | null = null;
  #restAt = 0;
  /** Bytes of this read behind the part that the sink takes now. */
  #ahead = 0;
  /** Bytes of the body that are still to come; Infinity: until the connection ends. Unused while there are chunks. */
  #left = 0;
  #chunks: Chunks | null = null;

  constructor(options: ReaderOptions<H>) {
    this.#options = options;
  }

  /** Whether a message has begun and is not read to its end. */
  get inMessage(): boolean {
    return this.#place === 'body' || this.#begun !== null;
  }

  /** Whether a body is being read. */
  get inBody(): boolean {
    return this.#place === 'body';
  }

  /** Bytes that have come behind the message; while its head is told, those of its own body too. */
  get waiting(): number {
    return this.#ahead + (this.#rest === null ? 0 : this.#rest.length - this.#restAt);
  }

  /** Takes bytes. Throws WireError; then nothing may be fed any more. */
  feed(bytes: Buffer): void {
    const at = this.#read(bytes, 0);
    if (at === bytes.length) return;
    const rest = bytes.subarray(at);
    // Copied, once: the caller may use its buffer again.
    this.#rest = Buffer.concat(this.#rest === null ? [rest] : [this.#rest.subarray(this.#restAt), rest]);
    this.#restAt = 0;
  }

  /** Goes on behind the message that was read to its end. Throws WireError. */
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

  /** Reads messages from `at` on. Returns where it stopped: behind a message, or at the end. */
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

  /** Drops what is fed from now on. */
  stop(): void {
    this.#place = 'stopped';
    this.#begun = null;
    this.#rest = null;
    this.#chunks?.stop();
    this.#chunks = null;
  }

  /** The bytes behind the message; the reader gives them up. */
  takeRest(): Buffer | null {
    const rest = this.#rest?.subarray(this.#restAt) ?? null;
    this.#rest = null;
    return rest;
  }

  /** The other side has ended the connection. Throws WireError inside a message that does not end so. */
  finish(): void {
    const endsSo = this.#place === 'body' && this.#chunks === null && this.#left === Number.POSITIVE_INFINITY;
    if (endsSo) this.#over(0);
    else if (this.inMessage) throw new WireError('cut_off', 'The connection ended inside a message.');
  }

  #head(bytes: Buffer, at: number): number {
    if (this.#begun !== null) return this.#more(bytes, at);
    if (bytes[at] === CR && bytes[at + 1] === LF && this.#maySkip) return this.#skip(at + 2);
    const { mostHeadBytes } = this.#options;
    const most = Math.min(bytes.length, at + mostHeadBytes);
    const usual = Math.min(most, at + USUAL_HEAD_BYTES);
    let text = bytes.toString('latin1', at, usual);
    let end = text.indexOf(HEAD_END);
    if (end < 0 && usual < most) {
      text = bytes.toString('latin1', at, most);
      end = text.indexOf(HEAD_END);
    }
    if (end < 0) return this.#begin(bytes, at);
    const size = end + HEAD_END.length;
    this.#take(size === text.length ? text : text.slice(0, size), bytes.length - at - size);
    return at + size;
  }

  get #maySkip(): boolean {
    return this.#options.skipsEmptyLine && !this.#skipped;
  }

  /** The one empty line, also if it came in two reads. */
  #skip(next: number): number {
    this.#skipped = true;
    this.#begun = null;
    return next;
  }

  #begin(bytes: Buffer, at: number): number {
    this.#begun = new ByteBuffer();
    return this.#more(bytes, at);
  }

  /** The rare way: a head in several reads. */
  #more(bytes: Buffer, at: number): number {
    const begun = this.#begun!;
    const { mostHeadBytes } = this.#options;
    const before = begun.size;
    if (before === 1 && begun.whole![0] === CR && bytes[at] === LF && this.#maySkip) return this.#skip(at + 1);
    const room = mostHeadBytes - before;
    begun.add(Buffer.from(bytes.subarray(at, at + room)));
    const whole = begun.whole!;
    const overlap = Math.max(0, before - HEAD_END.length);
    const text = whole.toString('latin1', overlap);
    const found = text.indexOf(HEAD_END);
    if (found < 0) {
      if (!mayBecomeHead(text, overlap === 0))
        throw malformed('The head has a control character, or a line end other than CR LF.');
      if (begun.size >= mostHeadBytes) throw tooLarge(whole);
      return Math.min(bytes.length, at + room);
    }
    const end = overlap + found + HEAD_END.length;
    this.#begun = null;
    const next = at + end - before;
    this.#take(whole.toString('latin1', 0, end), bytes.length - next);
    return next;
  }

  /** `ahead`: bytes that came with the head. */
  #take(text: string, ahead: number): void {
    const { parse, sink, mostHeadBytes } = this.#options;
    this.#skipped = false;
    const head = parse(text);
    const { framing } = head;
    this.#place = 'body';
    this.#chunks = framing === 'chunked' ? new Chunks((bytes) => sink.body(bytes), mostHeadBytes) : null;
    this.#left = typeof framing === 'number' ? framing : Number.POSITIVE_INFINITY;
    const isWhole = this.#left === 0;
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
    const next = Math.min(bytes.length, at + this.#left);
    this.#left -= next - at;
    this.#options.sink.body(at === 0 && next === bytes.length ? bytes : bytes.subarray(at, next));
    if (this.#left === 0) this.#over(bytes.length - next);
    return next;
  }

  /** `ahead`: bytes of this read behind the message. */
  #over(ahead: number): void {
    // The sink may have stopped the reader while it took the last part.
    if (this.#place === 'stopped') return;
    this.#place = 'behind';
    this.#chunks = null;
    this.#left = 0;
    this.#ahead = ahead;
    this.#options.sink.end();
    this.#ahead = 0;
  }
}

/** Without the end of a line the target is what is too long. */
function tooLarge(whole: Buffer): WireError {
  return whole.indexOf(LF) < 0
    ? new WireError('target_too_long', 'The request line is too long.')
    : new WireError('head_too_large', 'The header section is too large.');
}
