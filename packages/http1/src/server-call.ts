import type { Socket } from 'node:net';
import type { BodySink } from './body-stream.ts';
import type { Fields } from './fields.ts';
import type { RequestHead } from './heads.ts';
import { WireError } from './wire-error.ts';
import { chunkText, type FieldLines, LAST_CHUNK, ONE_WRITE, statusLine } from './writing.ts';

/** The connection below a call, as far as the call needs it. */
export interface Carrier {
  /** Stands for the connection: the same for all its calls. */
  readonly identity: object;
  readonly peer: string;
  readonly secure: boolean;
  /** Whether the connection can go on behind the answer that begins now. */
  mayGoOn(): boolean;
  /** The fields that every answer ends with, and the empty line. */
  closing(goesOn: boolean, dated: boolean): string;
  /** Text has one character per byte. Returns whether it takes more now; if not, `drained` is called. */
  write(data: string | Buffer, more?: string | Buffer): boolean;
  /** The answer is given to the connection as a whole. */
  answered(goesOn: boolean): void;
  /** Ends at once, so that the caller sees that the answer is not whole. */
  cutOff(): void;
  /** Gives up the connection with the bytes behind the request. */
  takeOver(): { readonly socket: Socket; readonly rest: Buffer | null };
  pauseBody(): void;
  resumeBody(): void;
  /** The call is over, one way or the other. */
  callEnded(): void;
}

/** How the length of a streamed answer shows. */
type Measure = 'none' | 'length' | 'chunks' | 'close';

/**
 * One request and its one answer. The body is read when somebody asks for it; the answer is given whole, or begun and then
 * streamed. After the caller has left, every method does nothing.
 */
export class ServerCall {
  readonly method: string;
  readonly target: string;
  readonly minor: 0 | 1;
  readonly fields: Fields;
  /** Bytes of the body that the head tells of: 0 for none, `chunked` for unknown. */
  readonly framing: number | 'chunked';
  /** Whether the connection may go on behind the answer. May be set to false until the answer has begun. */
  keepAlive: boolean;
  /** The status of the answer; 0 while it has not begun. */
  status = 0;
  /** The caller has closed its connection before its answer was whole. */
  left = false;
  /** Bytes of the body that have come, without those of their coding. */
  bodyBytes = 0;
  readonly #carrier: Carrier;
  #sink: BodySink | null = null;
  /** What came of the body before anybody asked for it. */
  #held: Buffer[] = [];
  #bodyError: Error | null = null;
  #bodyWhole = false;
  #measure: Measure = 'none';
  /** Bytes that an answer of known length still needs. */
  #owed = 0;
  /** The head of a streamed answer until something follows it, so that both leave in one write. */
  #head = '';
  #over = false;
  #goesOn = false;
  #drain: (() => void) | null = null;
  #finished = false;
  #ended: (() => void) | null = null;

  constructor(carrier: Carrier, { method, target, minor, fields, framing, persistent }: RequestHead) {
    this.#carrier = carrier;
    this.method = method;
    this.target = target;
    this.minor = minor;
    this.fields = fields;
    this.framing = framing;
    this.keepAlive = persistent;
  }

  /** The same object for all calls of one connection. */
  get connection(): object {
    return this.#carrier.identity;
  }

  /** The address of the other side, as the system writes it; empty once it is gone. */
  get peer(): string {
    return this.#carrier.peer;
  }

  /** Whether the caller speaks TLS. */
  get secure(): boolean {
    return this.#carrier.secure;
  }

  get hasBody(): boolean {
    return this.framing !== 0;
  }

  /** Whether the whole body has come. */
  get bodyWhole(): boolean {
    return this.#bodyWhole;
  }

  /** Why the rest of the body will not come; `null` while it may. */
  get bodyError(): Error | null {
    return this.#bodyError;
  }

  get begun(): boolean {
    return this.status !== 0;
  }

  /** The answer is complete: nothing is left to write. */
  get over(): boolean {
    return this.#over;
  }

  /** `ended` is called once: when the answer has been handed to the system as a whole, or the caller has left. */
  whenEnded(ended: () => void): void {
    const before = this.#ended;
    this.#ended =
      before === null
        ? ended
        : () => {
            before();
            ended();
          };
  }

  /**
   * Gives the connection up for another protocol, which the answer 101 begins; the call ends with the socket. `rest`: bytes
   * behind the request.
   */
  switchProtocols(reason: string, fields: FieldLines): { readonly socket: Socket; readonly rest: Buffer | null } {
    this.status = 101;
    const taken = this.#carrier.takeOver();
    taken.socket.write(`${statusLine(101, reason)}${fields.text}\r\n`, 'latin1');
    return taken;
  }

  /** Hands the body to `sink` from its first byte. Called once. */
  readBody(sink: BodySink): void {
    this.#sink = sink;
    const held = this.#held;
    this.#held = [];
    let more = true;
    // It may have the rest dropped while it takes a part.
    for (const bytes of held) more = this.#sink.chunk(bytes);
    if (this.#bodyError) this.#sink.fail(this.#bodyError);
    else if (this.#bodyWhole) this.#sink.end();
    else if (more) this.resumeBody();
  }

  /** The sink calls this when it wants more. */
  resumeBody(): void {
    // The connection may be at the next call already.
    if (!this.#bodyWhole && !this.#finished) this.#carrier.resumeBody();
  }

  /** What still comes of the body is read and dropped. */
  dropBody(): void {
    this.#sink = DROP;
    this.#held = [];
    this.resumeBody();
  }

  /** Tells a caller that waits for it to send the body (RFC 9110 section 10.1.1). HTTP/1.0 knows no interim answers. */
  sendContinue(): void {
    if (this.minor > 0 && !this.begun && !this.left) this.#carrier.write('HTTP/1.1 100 Continue\r\n\r\n');
  }

  /**
   * The whole answer. `reason`: empty for the usual phrase. `fields`: without those about the connection.
   * `body`: text has one character per byte. Adds Content-Length where none is given and one belongs (RFC 9110 section 8.6).
   */
  answer(status: number, reason: string, fields: FieldLines, body: string | Buffer): void {
    if (this.left || this.begun) return;
    const bodiless = this.method === 'HEAD' || status === 204 || status === 304;
    if (!bodiless && !fields.sized) fields.addLength(body.length);
    const text = statusLine(status, reason) + fields.text + this.#closing(fields);
    this.status = status;
    this.#over = true;
    if (bodiless || body.length === 0) this.#carrier.write(text);
    else if (typeof body === 'string') this.#carrier.write(text + body);
    else if (body.length <= ONE_WRITE) this.#carrier.write(text + body.toString('latin1'));
    else this.#carrier.write(text, body);
    this.#carrier.answered(this.#goesOn);
  }

  /** Begins an answer whose body follows by `write` and `end`. The head leaves with the first of them, or by `flush`. */
  begin(status: number, reason: string, fields: FieldLines): void {
    if (this.left || this.begun) return;
    const measure = this.#measureOf(status, fields);
    if (measure === 'close') this.keepAlive = false;
    const coding = measure === 'chunks' ? 'Transfer-Encoding: chunked\r\n' : '';
    this.#head = statusLine(status, reason) + fields.text + coding + this.#closing(fields);
    this.status = status;
    this.#measure = measure;
    this.#owed = fields.length;
  }

  flush(): void {
    const head = this.#takeHead();
    if (head !== '' && !this.left) this.#carrier.write(head);
  }

  /** Returns whether more is wanted now; if not, `drain` is called later. The bytes may be reused by their owner afterwards. */
  write(bytes: Buffer, drain: () => void): boolean {
    if (this.left || this.#over || this.#measure === 'none' || bytes.length === 0) return true;
    if (this.#measure === 'length' && bytes.length > this.#owed) {
      this.cutOff();
      return true;
    }
    this.#owed -= bytes.length;
    const more = this.#carrier.write(
      this.#takeHead() + (this.#measure === 'chunks' ? chunkText(bytes) : bytes.toString('latin1')),
    );
    this.#drain = more ? null : drain;
    return more;
  }

  end(): void {
    if (this.left || this.#over || !this.begun) return;
    if (this.#measure === 'length' && this.#owed > 0) {
      this.cutOff();
      return;
    }
    this.#over = true;
    const rest = this.#takeHead() + (this.#measure === 'chunks' ? LAST_CHUNK : '');
    if (rest !== '') this.#carrier.write(rest);
    this.#carrier.answered(this.#goesOn);
  }

  /** Ends the connection without a further byte: the caller sees that its answer is not whole. */
  cutOff(): void {
    if (!this.left) this.#carrier.cutOff();
  }

  /** The connection calls these. */
  takeBody(bytes: Buffer): void {
    this.bodyBytes += bytes.length;
    if (this.#sink === null) this.#held.push(bytes);
    if (!this.#sink?.chunk(bytes)) this.#carrier.pauseBody();
  }

  endBody(): void {
    this.#bodyWhole = true;
    this.#sink?.end();
  }

  failBody(error: Error): void {
    this.#bodyError = error;
    this.#sink?.fail(error);
  }

  drained(): void {
    const drain = this.#drain;
    this.#drain = null;
    drain?.();
  }

  /** `left`: the caller has gone before its answer was whole. */
  finish(left: boolean): void {
    if (this.#finished) return;
    this.#finished = true;
    this.left = left;
    this.#over = true;
    this.#held = [];
    if (left && !this.#bodyWhole) this.failBody(this.#bodyError ?? new WireError('cut_off', 'The caller has left.'));
    this.#carrier.callEnded();
    this.#ended?.();
  }

  #takeHead(): string {
    const head = this.#head;
    this.#head = '';
    return head;
  }

  #closing(fields: FieldLines): string {
    this.#goesOn = this.keepAlive && this.#carrier.mayGoOn();
    return this.#carrier.closing(this.#goesOn, fields.dated);
  }

  #measureOf(status: number, { sized }: FieldLines): Measure {
    if (this.method === 'HEAD' || status === 204 || status === 304) return 'none';
    if (sized) return 'length';
    return this.minor === 0 ? 'close' : 'chunks';
  }
}

const DROP: BodySink = { chunk: () => true, end: () => {}, fail: () => {} };
