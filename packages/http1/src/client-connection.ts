import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { BodyStream, EMPTY } from './body-stream.ts';
import { ClientError, type ClientFailure } from './client-error.ts';
import {
  type ClientRequest,
  type ResponseReceiver,
  requestHead,
  responseOf,
  type StreamedBody,
} from './client-request.ts';
import { type DirectWrites, directWrites } from './direct-writes.ts';
import { chunkText, LAST_CHUNK, ONE_WRITE } from './field-lines.ts';
import { type ResponseHead, ResponseHeads } from './heads.ts';
import { MessageReader, type MessageSink } from './reader.ts';
import { malformed, WireError } from './wire-error.ts';

/** The bytes are valid only during the call. */
export type OpenSocket = (receive: (bytes: Buffer) => void, connected: () => void) => Duplex;

/**
 * Milliseconds: to connect; to the response head; between two parts of a body; between two
 * requests.
 */
export interface ClientTimeouts {
  readonly connectTimeout: number;
  readonly headersTimeout: number;
  readonly bodyTimeout: number;
  /** Shorter than that of the server, which may close a connection as a request arrives. */
  readonly keepAliveTimeout: number;
}

export interface ClientShared {
  /**
   * Milliseconds on the clock of `performance.now()`, rounded up to the pool's next check, so no
   * deadline is early.
   */
  now: number;
  readonly open: OpenSocket;
  readonly host: string;
  readonly basePath: string;
  timeouts: ClientTimeouts;
  readonly free: (connection: ClientConnection) => void;
  readonly closed: (connection: ClientConnection) => void;
}

const MOST_HEAD_BYTES = 64 * 1024;
/** No server has a reason to send more interim responses (RFC 9110 section 15.2). */
const MOST_INTERIM = 16;
/** Milliseconds. */
const HINT_MARGIN = 1_000;
const NEVER = Number.POSITIVE_INFINITY;

/** One request at a time. Unsolicited bytes close it. */
export class ClientConnection implements MessageSink<ResponseHead> {
  readonly #shared: ClientShared;
  readonly #socket: Duplex;
  /** Also `null` until it is connected. */
  #direct: DirectWrites | null = null;
  readonly #reader: MessageReader<ResponseHead>;
  #connected = false;
  #closed = false;
  #served = 0;
  #request: ClientRequest | null = null;
  #upgraded: ResponseHead | null = null;
  #receiver: ResponseReceiver | null = null;
  #begun = false;
  #interim = 0;
  #sent = true;
  #streamed: StreamedBody | null = null;
  /** So that a response in one read is passed on as one. */
  #held: ResponseHead | null = null;
  #whole: Buffer = EMPTY;
  #stream: BodyStream | null = null;
  #paused = false;
  #streamedBytes = 0;
  #sentBytes = 0;
  #persistent = true;
  #over = false;
  #retired = false;
  /** Milliseconds that the server allows. */
  #idleHint = NEVER;
  #freeSince = 0;
  #deadline: number;

  constructor(shared: ClientShared) {
    this.#shared = shared;
    this.#deadline = shared.now + shared.timeouts.connectTimeout;
    const heads = new ResponseHeads();
    this.#reader = new MessageReader({
      parse: (text) => heads.read(text, this.#request!.method),
      sink: this,
      mostHeadBytes: MOST_HEAD_BYTES,
      skipsEmptyLine: false,
    });
    this.#socket = shared.open(
      (bytes) => this.#receive(bytes),
      () => this.#opened(),
    );
    this.#socket
      .on('end', () => this.#finish(null))
      .on('error', (error) => this.#finish(error))
      .on('close', () => this.#finish(null))
      .on('drain', () => this.#drained());
  }

  get isOpen(): boolean {
    return !this.#closed;
  }

  /**
   * Idle for too long at `now`. The timer closes such connections later, because it looks at
   * intervals.
   */
  isStale(now: number): boolean {
    return now - this.#freeSince >= this.#idleTimeout;
  }

  get #idleTimeout(): number {
    return Math.min(this.#shared.timeouts.keepAliveTimeout, this.#idleHint);
  }

  get address(): string | undefined {
    return (this.#socket as Partial<Socket>).remoteAddress;
  }

  retire(): void {
    this.#retired = true;
    if (this.#receiver === null && this.#stream === null) this.destroy();
  }

  /** Throws if the request cannot be sent; the connection then stays free. */
  ask(request: ClientRequest, receiver: ResponseReceiver): void {
    const { body } = request;
    const head = requestHead(request, this.#shared);
    this.#request = request;
    this.#receiver = receiver;
    this.#begun = false;
    this.#interim = 0;
    this.#over = false;
    this.#reader.next();
    if (this.#connected) this.#deadline = this.#shared.now + this.#shared.timeouts.headersTimeout;
    if (body === null) this.#write(head);
    else if ('readBody' in body) this.#sendStreamed(head, body);
    else if (body.length <= ONE_WRITE) this.#write(head + body.toString('latin1'));
    else {
      this.#socket.cork();
      this.#socket.write(head, 'latin1');
      this.#socket.write(body);
      this.#socket.uncork();
    }
  }

  #write(text: string): void {
    if (this.#direct === null) this.#socket.write(text, 'latin1');
    else this.#direct.write(text);
  }

  /** Its receiver gets no further call. */
  cancel(request: ClientRequest): void {
    if (this.#request !== request) return;
    this.#receiver = null;
    this.#stream = null;
    this.destroy();
  }

  destroy(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#reader.stop();
    this.#socket.destroy();
    this.#shared.closed(this);
  }

  /** Of a streamed body; `null` unless the client, which reads or sends it, is the slow side. */
  get clientBytes(): number | null {
    if (this.#stream !== null) return this.#paused ? this.#streamedBytes : null;
    return this.#streamed !== null && this.#deadline === NEVER ? this.#sentBytes : null;
  }

  /** Other requests wait for the connection. */
  endSlowClient(): void {
    if (this.#stream !== null) {
      this.#fail('slow_reader', 'the response was read too slowly while other requests waited');
      return;
    }
    const late = new WireError(
      'too_late',
      'The body arrived too slowly while other requests waited.',
    );
    this.#fail('body', late.message, late);
  }

  endIfLate(now: number): void {
    if (now < this.#deadline) return;
    this.#deadline = NEVER;
    if (this.#receiver === null && this.#stream === null) this.destroy();
    else if (!this.#connected)
      this.#fail('unreachable', `no connection within ${this.#shared.timeouts.connectTimeout} ms`);
    else this.#fail('too_slow', 'the answer did not come in time');
  }

  head(head: ResponseHead): void {
    const { status, framing, persistent } = head;
    if (status < 200) {
      if (status === 101) {
        if (this.#request?.upgraded === undefined)
          throw malformed('The response changes the protocol without a request.');
        this.#upgraded = head;
        return;
      }
      if (++this.#interim > MOST_INTERIM) throw malformed('There are too many interim answers.');
      return;
    }
    this.#persistent = persistent && this.#sent;
    this.#readHint(head);
    this.#held = head;
    this.#whole = EMPTY;
    const comesWhole = typeof framing === 'number' && framing <= this.#reader.waiting;
    if (!comesWhole) this.#answerWithStream();
  }

  body(bytes: Buffer): void {
    // The buffer is shared by all connections.
    if (this.#held !== null) this.#whole = Buffer.from(bytes);
    else {
      this.#streamedBytes += bytes.length;
      this.#stream?.push(bytes);
    }
  }

  end(): void {
    const head = this.#held;
    if (this.#upgraded !== null) return;
    if (head === null && this.#stream === null) {
      this.#reader.next();
      return;
    }
    this.#served++;
    this.#over = true;
    this.#request = null;
    const [receiver, stream] = [this.#receiver, this.#stream];
    this.#receiver = null;
    this.#stream = null;
    this.#held = null;
    if (head !== null) receiver?.answer(responseOf(head, this.#whole));
    else stream?.end();
  }

  #opened(): void {
    this.#connected = true;
    this.#direct = directWrites(this.#socket, () => {});
    if (this.#receiver !== null)
      this.#deadline = this.#sent ? this.#shared.now + this.#shared.timeouts.headersTimeout : NEVER;
  }

  #receive(bytes: Buffer): void {
    if (this.#closed) return;
    if (this.#receiver === null && this.#stream === null) {
      this.destroy();
      return;
    }
    if (!this.#begun) {
      this.#begun = true;
      this.#receiver?.begun();
    }
    if (this.#stream !== null)
      this.#deadline = this.#shared.now + this.#shared.timeouts.bodyTimeout;
    try {
      this.#reader.feed(bytes);
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      this.#fail('broken', error.message, error);
    }
    if (this.#upgraded !== null) this.#handOver(this.#upgraded);
    else if (this.#over) this.#release();
  }

  #handOver({ reason, fields }: ResponseHead): void {
    const upgraded = this.#request!.upgraded!;
    const rest = this.#reader.takeRest();
    this.#closed = true;
    this.#receiver = null;
    this.#reader.stop();
    this.#shared.closed(this);
    this.#socket.removeAllListeners('data').removeAllListeners('end').removeAllListeners('drain');
    // The buffer is reused.
    upgraded({ reason, fields, socket: this.#socket, rest: rest && Buffer.from(rest) });
  }

  /** Only after a whole read: bytes after the response must not become the next response. */
  #release(): void {
    this.#over = false;
    if (this.#closed) return;
    // A response to an incomplete request: whether the server reads the rest is unknown.
    const isSent =
      this.#sent && this.#socket.writableLength === 0 && this.#direct?.isPending !== true;
    if (!this.#persistent || this.#retired || !isSent || this.#reader.waiting > 0) {
      this.destroy();
      return;
    }
    // The receiver may still have paused it.
    if (this.#paused) this.#unpause();
    this.#freeSince = performance.now();
    this.#deadline = this.#shared.now + this.#idleTimeout;
    this.#shared.free(this);
  }

  #finish(error: Error | null): void {
    if (this.#closed) return;
    if (error === null) {
      try {
        this.#reader.finish();
      } catch (cut) {
        this.#fail('broken', (cut as WireError).message, cut);
        return;
      }
    }
    if (this.#receiver === null && this.#stream === null) this.destroy();
    else
      this.#fail(
        this.#connected ? 'broken' : 'unreachable',
        error?.message ?? 'the connection was closed',
        error,
      );
  }

  #fail(failure: ClientFailure, message: string, cause: unknown = null): void {
    if (this.#closed) return;
    const diedIdle = failure === 'broken' && this.#served > 0 && !this.#begun;
    const error = new ClientError(failure, message, { cause, diedIdle });
    const [receiver, stream] = [this.#receiver, this.#stream];
    this.#receiver = null;
    this.#stream = null;
    // Before the pool learns of the failure, so that no waiting request gets a connection to a
    // failed server.
    receiver?.fail(error);
    this.destroy();
    stream?.fail(error);
  }

  #answerWithStream(): void {
    const head = this.#held!;
    const receiver = this.#receiver!;
    this.#held = null;
    this.#receiver = null;
    const stream = new BodyStream(this);
    this.#stream = stream;
    this.#streamedBytes = 0;
    this.#deadline = this.#shared.now + this.#shared.timeouts.bodyTimeout;
    receiver.answer(responseOf(head, stream));
  }

  pause(): void {
    // The receiver is slow, not the server.
    this.#deadline = NEVER;
    this.#paused = true;
    this.#socket.pause();
  }

  #unpause(): void {
    this.#paused = false;
    this.#socket.resume();
  }

  resume(): void {
    if (this.#closed || this.#stream === null) return;
    this.#deadline = this.#shared.now + this.#shared.timeouts.bodyTimeout;
    this.#unpause();
  }

  #sendStreamed(head: string, body: StreamedBody): void {
    const inChunks = body.length === null;
    let rest = head;
    this.#sent = false;
    this.#streamed = body;
    this.#sentBytes = 0;
    // While its own source is slow, no response can be late.
    if (this.#connected) this.#deadline = NEVER;
    const write = (text: string) => {
      const more = this.#socket.write(rest + text, 'latin1');
      rest = '';
      if (!more && this.#connected)
        this.#deadline = this.#shared.now + this.#shared.timeouts.headersTimeout;
      return more;
    };
    body.readBody({
      // An empty chunk would end the body.
      chunk: (bytes) => {
        if (this.#closed || bytes.length === 0) return true;
        this.#sentBytes += bytes.length;
        return write(inChunks ? chunkText(bytes) : bytes.toString('latin1'));
      },
      end: () => {
        if (this.#closed) return;
        const last = rest + (inChunks ? LAST_CHUNK : '');
        if (last !== '') this.#socket.write(last, 'latin1');
        this.#sent = true;
        this.#streamed = null;
        if (this.#connected && this.#stream === null)
          this.#deadline = this.#shared.now + this.#shared.timeouts.headersTimeout;
      },
      fail: (error) => this.#fail('body', 'the request body failed', error),
    });
    if (rest !== '' && !this.#closed) write('');
  }

  #drained(): void {
    if (this.#streamed === null) return;
    this.#deadline = NEVER;
    this.#streamed.resumeBody();
  }

  #readHint({ fields: { list } }: ResponseHead): void {
    for (let i = 0; i < list.length; i += 2) {
      if (list[i]!.length !== 10 || list[i]!.toLowerCase() !== 'keep-alive') continue;
      const seconds = /^timeout=(\d{1,5})(?:,|$)/i.exec(list[i + 1]!)?.[1];
      if (seconds === undefined) return;
      this.#idleHint = Number(seconds) * 1_000 - HINT_MARGIN;
      if (this.#idleHint <= 0) this.#persistent = false;
    }
  }
}
