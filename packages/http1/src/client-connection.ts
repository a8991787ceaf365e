import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { BodyStream, EMPTY } from './body-stream.ts';
import { ClientError, type ClientFailure } from './client-error.ts';
import {
  type ClientRequest,
  type ResponseReceiver,
  requestHead,
  type StreamedBody,
} from './client-request.ts';
import { checkNext, type State } from './client-states.ts';
import { chunkText, LAST_CHUNK, ONE_WRITE } from './field-lines.ts';
import { readFields } from './fields.ts';
import { type ResponseHead, ResponseHeads } from './heads.ts';
import { MessageReader, type MessageSink } from './reader.ts';
import { faultOfSwitch } from './websocket.ts';
import { malformed, WireError } from './wire-error.ts';

/** The bytes are valid only during the call. */
export type OpenSocket = (
  receive: (bytes: Buffer) => void,
  connected: () => void,
) => Duplex;

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

/** A request and its response. */
interface Exchange {
  readonly request: ClientRequest;
  readonly receiver: ResponseReceiver;
  interim: number;
  head: ResponseHead | null;
  /** Of a whole response. */
  body: Buffer;
  stream: BodyStream | null;
  streamedBytes: number;
}

/** A streamed body until it is sent. */
interface Upload {
  readonly body: StreamedBody;
  bytes: number;
}

/**
 * One request at a time, in the states of `client-states.ts`. Unsolicited bytes close the
 * connection.
 */
export class ClientConnection implements MessageSink<ResponseHead> {
  readonly #shared: ClientShared;
  readonly #socket: Duplex;
  readonly #reader: MessageReader<ResponseHead>;
  #state: State = 'idle';
  /** Until the response is complete. */
  #exchange: Exchange | null = null;
  /** May be longer than the exchange: a server may respond before it has the request. */
  #upload: Upload | null = null;
  #connected = false;
  #paused = false;
  #persistent = true;
  #retired = false;
  #served = 0;
  /** Milliseconds that the server allows. */
  #idleHint = NEVER;
  #freeSince = 0;
  #deadline: number;

  constructor(shared: ClientShared) {
    this.#shared = shared;
    this.#deadline = shared.now + shared.timeouts.connectTimeout;
    const heads = new ResponseHeads();
    this.#reader = new MessageReader({
      parse: (text) => heads.read(text, this.#exchange!.request.method),
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

  #enter(next: State): void {
    checkNext(this.#state, next);
    this.#state = next;
  }

  get isOpen(): boolean {
    return this.#state !== 'closed';
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
    if (this.#exchange === null) this.destroy();
  }

  /** Throws if the request cannot be sent; the connection then stays free. */
  ask(request: ClientRequest, receiver: ResponseReceiver): void {
    const { body } = request;
    const text = requestHead(request, this.#shared);
    this.#enter('waiting');
    this.#exchange = {
      request,
      receiver,
      interim: 0,
      head: null,
      body: EMPTY,
      stream: null,
      streamedBytes: 0,
    };
    this.#reader.next();
    if (this.#connected) this.#limit('headersTimeout');
    if (body === null) this.#socket.write(text, 'latin1');
    else if ('readBody' in body) this.#sendStreamed(text, body);
    else if (body.length <= ONE_WRITE)
      this.#socket.write(text + body.toString('latin1'), 'latin1');
    else {
      this.#socket.cork();
      this.#socket.write(text, 'latin1');
      this.#socket.write(body);
      this.#socket.uncork();
    }
  }

  #limit(timeout: 'headersTimeout' | 'bodyTimeout'): void {
    const { now, timeouts } = this.#shared;
    const own =
      timeout === 'headersTimeout'
        ? this.#exchange?.request.headersTimeout
        : undefined;
    this.#deadline = now + (own ?? timeouts[timeout]);
  }

  /** Its receiver gets no further call. */
  cancel(request: ClientRequest): void {
    if (this.#exchange?.request === request) this.destroy();
  }

  destroy(): void {
    if (!this.isOpen) return;
    this.#enter('closed');
    this.#exchange = null;
    this.#reader.stop();
    this.#socket.destroy();
    this.#shared.closed(this);
  }

  /** Of a streamed body; `null` unless the client, which reads or sends it, is the slow side. */
  get clientBytes(): number | null {
    if (this.#state === 'streaming')
      return this.#paused ? this.#exchange!.streamedBytes : null;
    return this.#upload !== null && this.#deadline === NEVER
      ? this.#upload.bytes
      : null;
  }

  /** Other requests wait for the connection. */
  endSlowClient(): void {
    if (this.#state === 'streaming')
      this.#fail(
        'slow_reader',
        'the response was read too slowly while other requests waited',
      );
    else {
      const late = new WireError(
        'too_late',
        'The body arrived too slowly while other requests waited.',
      );
      this.#fail('body', late.message, late);
    }
  }

  endIfLate(now: number): void {
    if (now < this.#deadline) return;
    this.#deadline = NEVER;
    if (this.#exchange === null) this.destroy();
    else if (this.#connected)
      this.#fail('too_slow', 'the response did not arrive in time');
    else
      this.#fail(
        'unreachable',
        `no connection within ${this.#shared.timeouts.connectTimeout} ms`,
      );
  }

  head(head: ResponseHead): void {
    const exchange = this.#exchange!;
    const { status } = head;
    if (status === 101) {
      const { upgraded, fields } = exchange.request;
      if (upgraded === undefined)
        throw malformed('The response changes the protocol without a request.');
      const offered = readFields(`${fields.text}\r\n`);
      const fault = faultOfSwitch(offered, head.fields);
      if (fault !== null) throw malformed(`The response ${fault}.`);
      exchange.head = head;
      this.#enter('tunnel');
    } else if (status >= 200) this.#begin(exchange, head);
    else if (++exchange.interim > MOST_INTERIM)
      throw malformed('There are too many interim responses.');
  }

  #begin(exchange: Exchange, head: ResponseHead): void {
    const { framing, persistent } = head;
    this.#persistent = persistent && this.#upload === null;
    this.#readHint(head);
    if (typeof framing === 'number' && framing <= this.#reader.waiting) {
      exchange.head = head;
      this.#enter('whole');
    } else this.#stream(exchange, head);
  }

  #stream(exchange: Exchange, head: ResponseHead): void {
    const stream = new BodyStream(this);
    exchange.stream = stream;
    this.#enter('streaming');
    this.#limit('bodyTimeout');
    exchange.receiver.receive({ ...head, body: stream });
  }

  body(bytes: Buffer): void {
    const exchange = this.#exchange!;
    // The buffer is shared by all connections.
    if (exchange.stream === null) exchange.body = Buffer.from(bytes);
    else {
      exchange.streamedBytes += bytes.length;
      exchange.stream.push(bytes);
    }
  }

  end(): void {
    if (this.#state === 'head') this.#reader.next();
    else if (this.#state !== 'tunnel') this.#complete(this.#exchange!);
  }

  #complete({ receiver, head, body, stream }: Exchange): void {
    this.#enter('complete');
    this.#exchange = null;
    this.#served++;
    if (stream === null) receiver.receive({ ...head!, body });
    else stream.end();
  }

  #opened(): void {
    this.#connected = true;
    if (this.#upload !== null) this.#deadline = NEVER;
    else if (this.#exchange !== null) this.#limit('headersTimeout');
  }

  #receive(bytes: Buffer): void {
    const state = this.#state;
    if (state === 'idle') this.destroy();
    if (!this.isOpen) return;
    if (state === 'streaming') this.#limit('bodyTimeout');
    else if (state === 'waiting') {
      this.#enter('head');
      this.#exchange!.receiver.begun();
    }
    try {
      this.#reader.feed(bytes);
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      this.#fail('broken', error.message, error);
    }
    if (this.#state === 'tunnel') this.#handOver(this.#exchange!);
    else if (this.#state === 'complete') {
      if (this.#isReusable) this.#release();
      else this.destroy();
    }
  }

  #handOver({ request, head }: Exchange): void {
    const { reason, fields } = head!;
    const rest = this.#reader.takeRest();
    this.#enter('closed');
    this.#exchange = null;
    this.#reader.stop();
    this.#shared.closed(this);
    this.#socket
      .removeAllListeners('data')
      .removeAllListeners('end')
      .removeAllListeners('drain');
    // The buffer is reused.
    request.upgraded!({
      reason,
      fields,
      socket: this.#socket,
      rest: rest && Buffer.from(rest),
    });
  }

  get #isReusable(): boolean {
    // A response to an incomplete request: whether the server reads the rest is unknown.
    const isSent = this.#upload === null && this.#socket.writableLength === 0;
    return (
      this.#persistent && !this.#retired && isSent && this.#reader.waiting === 0
    );
  }

  #release(): void {
    // The receiver may still have paused it.
    if (this.#paused) this.#unpause();
    this.#enter('idle');
    this.#freeSince = performance.now();
    this.#deadline = this.#shared.now + this.#idleTimeout;
    this.#shared.free(this);
  }

  #finish(error: Error | null): void {
    if (!this.isOpen) return;
    let failure = error;
    try {
      if (error === null) this.#reader.finish();
    } catch (cut) {
      failure = cut as WireError;
    }
    if (this.#exchange === null) this.destroy();
    else
      this.#fail(
        this.#connected ? 'broken' : 'unreachable',
        failure?.message ?? 'the connection was closed',
        failure,
      );
  }

  #fail(failure: ClientFailure, message: string, cause: unknown = null): void {
    const diedIdle =
      failure === 'broken' && this.#served > 0 && this.#state === 'waiting';
    const error = new ClientError(failure, message, { cause, diedIdle });
    const exchange = this.#exchange;
    this.#exchange = null;
    // Before the pool learns of the failure, so that no waiting request gets a connection to a
    // failed server.
    if (!exchange?.stream) exchange?.receiver.fail(error);
    this.destroy();
    exchange?.stream?.fail(error);
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
    if (this.#state !== 'streaming') return;
    this.#limit('bodyTimeout');
    this.#unpause();
  }

  #sendStreamed(head: string, body: StreamedBody): void {
    const inChunks = body.length === null;
    const upload: Upload = { body, bytes: 0 };
    let rest = head;
    this.#upload = upload;
    // While its own source is slow, no response can be late.
    if (this.#connected) this.#deadline = NEVER;
    const write = (text: string) => {
      const more = this.#socket.write(rest + text, 'latin1');
      rest = '';
      if (!more && this.#connected) this.#limit('headersTimeout');
      return more;
    };
    body.readBody({
      // An empty chunk would end the body.
      chunk: (bytes) => {
        if (!this.isOpen || bytes.length === 0) return true;
        upload.bytes += bytes.length;
        return write(inChunks ? chunkText(bytes) : bytes.toString('latin1'));
      },
      end: () => {
        if (!this.isOpen) return;
        const last = rest + (inChunks ? LAST_CHUNK : '');
        if (last !== '') this.#socket.write(last, 'latin1');
        this.#upload = null;
        if (this.#connected && this.#state !== 'streaming')
          this.#limit('headersTimeout');
      },
      fail: (error) => this.#fail('body', 'the request body failed', error),
    });
    if (rest !== '' && this.isOpen) write('');
  }

  #drained(): void {
    if (this.#upload === null) return;
    this.#deadline = NEVER;
    this.#upload.body.resumeBody();
  }

  #readHint({ fields: { list } }: ResponseHead): void {
    for (let i = 0; i < list.length; i += 2) {
      if (list[i]!.length !== 10 || list[i]!.toLowerCase() !== 'keep-alive')
        continue;
      const seconds = /^timeout=(\d{1,5})(?:,|$)/i.exec(list[i + 1]!)?.[1];
      if (seconds === undefined) return;
      this.#idleHint = Number(seconds) * 1_000 - HINT_MARGIN;
      if (this.#idleHint <= 0) this.#persistent = false;
    }
  }
}
