import type { Socket } from 'node:net';
import type { BodySink } from './body-stream.ts';
import {
  chunkText,
  type FieldLines,
  LAST_CHUNK,
  ONE_WRITE,
  statusLine,
} from './field-lines.ts';
import type { Fields } from './fields.ts';
import type { RequestHead } from './heads.ts';
import type { CallConnection } from './place.ts';
import { WireError } from './wire-error.ts';

export interface CallTransport extends CallConnection {
  readonly peer: string;
  readonly secure: boolean;
  mayPersist(): boolean;
  closing(persistent: boolean, dated: boolean): string;
  /** Text has one character per byte. If it returns false, `drained` is called later. */
  write(data: string | Buffer, more?: string | Buffer): boolean;
  responded(persistent: boolean): void;
  /** At once, so that the client detects an incomplete response. */
  cutOff(): void;
  takeOver(): { readonly socket: Socket; readonly rest: Buffer | null };
  pause(): void;
  resume(): void;
}

type Measure = 'none' | 'length' | 'chunks' | 'close';

/** The body is read on demand. After the client has disconnected, every method does nothing. */
export class ServerCall {
  readonly method: string;
  readonly target: string;
  readonly minor: 0 | 1;
  readonly fields: Fields;
  /** 0 for no body, `chunked` for unknown. */
  readonly framing: number | 'chunked';
  /** May be set to false until the response has begun. */
  keepAlive: boolean;
  /** 0 before the response has begun. */
  status = 0;
  left = false;
  over = false;
  bodyBytes = 0;
  /** Of the body of the response, without its coding. */
  sentBytes = 0;
  bodyWhole = false;
  /** Why the rest of the body will not arrive; `null` while it may. */
  bodyError: Error | null = null;
  readonly #transport: CallTransport;
  #sink: BodySink | null = null;
  #held: Buffer[] = [];
  #measure: Measure = 'none';
  #owed = 0;
  #head = '';
  #persistent = false;
  #drain: (() => void) | null = null;
  #finished = false;
  #ended: (() => void) | null = null;

  constructor(
    transport: CallTransport,
    { method, target, minor, fields, framing, persistent }: RequestHead,
  ) {
    this.#transport = transport;
    this.method = method;
    this.target = target;
    this.minor = minor;
    this.fields = fields;
    this.framing = framing;
    this.keepAlive = persistent;
  }

  /** The same object for all calls of one connection. */
  get connection(): CallConnection {
    return this.#transport;
  }

  get peer(): string {
    return this.#transport.peer;
  }

  /** Here or with the balancer in front. */
  get secure(): boolean {
    return this.#transport.secure;
  }

  get hasBody(): boolean {
    return this.framing !== 0;
  }

  get begun(): boolean {
    return this.status !== 0;
  }

  /** Called once: when the whole response was sent, or the client disconnected. */
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

  /** After a 101 response; the call ends with the socket. `rest`: bytes after the request. */
  switchProtocols(
    reason: string,
    fields: FieldLines,
  ): { readonly socket: Socket; readonly rest: Buffer | null } {
    this.status = 101;
    const taken = this.#transport.takeOver();
    taken.socket.write(
      `${statusLine(101, reason)}${fields.text}\r\n`,
      'latin1',
    );
    return taken;
  }

  /** Called once. */
  readBody(sink: BodySink): void {
    this.#sink = sink;
    const held = this.#held;
    this.#held = [];
    let more = true;
    // The sink may drop the rest during a call.
    for (const bytes of held) more = this.#sink.chunk(bytes);
    if (this.bodyError) this.#sink.fail(this.bodyError);
    else if (this.bodyWhole) this.#sink.end();
    else if (more) this.resumeBody();
  }

  resumeBody(): void {
    // The connection may already serve the next call.
    if (!this.bodyWhole && !this.#finished) this.#transport.resume();
  }

  dropBody(): void {
    this.#sink = DROP;
    this.#held = [];
    this.resumeBody();
  }

  /** RFC 9110 section 10.1.1. HTTP/1.0 has no interim responses. */
  sendContinue(): void {
    if (this.minor > 0 && !this.begun && !this.left)
      this.#transport.write('HTTP/1.1 100 Continue\r\n\r\n');
  }

  /**
   * `fields` exclude connection fields. Text in `body` has one character per byte. Adds
   * Content-Length if missing and required (RFC 9110 section 8.6).
   */
  respond(
    status: number,
    reason: string,
    fields: FieldLines,
    body: string | Buffer,
  ): void {
    if (this.left || this.begun) return;
    const bodiless = this.method === 'HEAD' || status === 204 || status === 304;
    if (!bodiless && !fields.sized) fields.addLength(body.length);
    const text =
      statusLine(status, reason) + fields.text + this.#closing(fields);
    this.status = status;
    this.over = true;
    if (!bodiless) this.sentBytes = body.length;
    if (bodiless || body.length === 0) this.#transport.write(text);
    else if (typeof body === 'string') this.#transport.write(text + body);
    else if (body.length <= ONE_WRITE)
      this.#transport.write(text + body.toString('latin1'));
    else this.#transport.write(text, body);
    this.#transport.responded(this.#persistent);
  }

  /** The head leaves with the first `write` or `end`, or by `flush`. */
  begin(status: number, reason: string, fields: FieldLines): void {
    if (this.left || this.begun) return;
    const measure = this.#measureOf(status, fields);
    if (measure === 'close') this.keepAlive = false;
    const coding = measure === 'chunks' ? 'Transfer-Encoding: chunked\r\n' : '';
    this.#head =
      statusLine(status, reason) + fields.text + coding + this.#closing(fields);
    this.status = status;
    this.#measure = measure;
    this.#owed = fields.length;
  }

  flush(): void {
    const head = this.#takeHead();
    if (head !== '' && !this.left) this.#transport.write(head);
  }

  /** If it returns false, `drain` is called later. The bytes may be reused after the call. */
  write(bytes: Buffer, drain: () => void): boolean {
    if (
      this.left ||
      this.over ||
      this.#measure === 'none' ||
      bytes.length === 0
    )
      return true;
    if (this.#measure === 'length' && bytes.length > this.#owed) {
      this.cutOff();
      return true;
    }
    this.#owed -= bytes.length;
    this.sentBytes += bytes.length;
    const more = this.#transport.write(
      this.#takeHead() +
        (this.#measure === 'chunks'
          ? chunkText(bytes)
          : bytes.toString('latin1')),
    );
    this.#drain = more ? null : drain;
    return more;
  }

  end(): void {
    if (this.left || this.over || !this.begun) return;
    if (this.#measure === 'length' && this.#owed > 0) {
      this.cutOff();
      return;
    }
    this.over = true;
    const rest =
      this.#takeHead() + (this.#measure === 'chunks' ? LAST_CHUNK : '');
    if (rest !== '') this.#transport.write(rest);
    this.#transport.responded(this.#persistent);
  }

  cutOff(): void {
    if (!this.left) this.#transport.cutOff();
  }

  takeBody(bytes: Buffer): void {
    this.bodyBytes += bytes.length;
    // The buffer is shared by all connections.
    if (this.#sink === null) this.#held.push(Buffer.from(bytes));
    if (!this.#sink?.chunk(bytes)) this.#transport.pause();
  }

  endBody(): void {
    this.bodyWhole = true;
    this.#sink?.end();
  }

  failBody(error: Error): void {
    this.bodyError = error;
    this.#sink?.fail(error);
  }

  drained(): void {
    const drain = this.#drain;
    this.#drain = null;
    drain?.();
  }

  finish(left: boolean): void {
    if (this.#finished) return;
    this.#finished = true;
    this.left = left;
    this.over = true;
    this.#held = [];
    if (left && !this.bodyWhole)
      this.failBody(
        this.bodyError ??
          new WireError('cut_off', 'The client has disconnected.'),
      );
    this.#ended?.();
  }

  #takeHead(): string {
    const head = this.#head;
    this.#head = '';
    return head;
  }

  #closing(fields: FieldLines): string {
    this.#persistent = this.keepAlive && this.#transport.mayPersist();
    return this.#transport.closing(this.#persistent, fields.dated);
  }

  #measureOf(status: number, { sized }: FieldLines): Measure {
    if (this.method === 'HEAD' || status === 204 || status === 304)
      return 'none';
    if (sized) return 'length';
    return this.minor === 0 ? 'close' : 'chunks';
  }
}

const DROP: BodySink = { chunk: () => true, end: () => {}, fail: () => {} };
