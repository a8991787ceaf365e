import type { Socket } from 'node:net';
import type { Closing, FieldLines } from './field-lines.ts';
import { type RequestHead, RequestHeads } from './heads.ts';
import type { Occupant } from './place.ts';
import type { Origin } from './proxy-protocol.ts';
import { MessageReader, type MessageSink } from './reader.ts';
import { type CallTransport, ServerCall } from './server-call.ts';
import type { TurnQueue, TurnTaker } from './turn-queue.ts';
import { WireError } from './wire-error.ts';

/** Milliseconds: closing with unread bytes would reset the connection and lose the response. */
const LINGER = 1_000;
/** Between two requests the client has the last response. */
const IDLE_LINGER = 100;
/** One if other connections already wait. */
const TURN_REQUESTS = 8;
/** In milliseconds. */
const TURN_TIME = 2;
/** Milliseconds. */
const QUIET = 100;
/** Milliseconds for the next part of a response to a client that has closed its side. */
const SILENCE = 500;
/** Bytes that are read behind an unanswered request: the end of a client comes after them. */
const MOST_AHEAD = 64 * 1024;

export interface ServerShared {
  readonly options: ConnectionOptions;
  readonly closing: Closing;
  readonly turns: TurnQueue;
  /**
   * Milliseconds on the clock of `performance.now()`, rounded up to the server's next check, so no
   * deadline is early.
   */
  now: number;
  inFlight: number;
  /** The last response of each connection closes it, with `Connection: close`. */
  leaving: boolean;
  readonly closed: (connection: ServerConnection) => void;
}

export interface ConnectionOptions {
  readonly maxHeaderBytes: number;
  /** Milliseconds for a head, from its first byte or from the start of the connection. */
  readonly headersTimeout: number;
  readonly requestTimeout: number;
  readonly keepAliveTimeout: number;
  readonly maxRequestsPerConnection: number;
  /** Never throws. */
  readonly handle: (call: ServerCall) => void;
  /** Called once. */
  readonly refuse: (error: WireError, reply: BrokenReply) => void;
}

/** The connection then closes. */
export interface BrokenReply {
  readonly peer: string;
  respond(status: number, fields: FieldLines, body: string): void;
  drop(): void;
}

type Waiting = 'first' | 'next' | 'head' | 'body' | 'nothing' | 'close';

/**
 * One request at a time, so they are processed in order (RFC 9112 section 9.3.2). Bytes after an
 * error, or after a response that closes the connection, are never parsed as a request.
 */
export class ServerConnection
  implements CallTransport, MessageSink<RequestHead>, Occupant, TurnTaker
{
  readonly secure: boolean;
  known = false;
  readonly #socket: Socket;
  /** `null` for plain sockets. */
  readonly #written: ((error?: Error | null) => void) | null;
  /** TLS: `null` if no whole response is being written. */
  #persistent: boolean | null = null;
  readonly #address: string | null;
  readonly #shared: ServerShared;
  readonly #reader: MessageReader<RequestHead>;
  #call: ServerCall | null = null;
  #waiting: Waiting = 'first';
  #deadline: number;
  #requestDeadline = 0;
  #paused = false;
  #requests = 0;
  #turnBegan = 0;
  #turnTime = 0;
  #waitsForTurn = false;
  #ended = false;
  #givenUp = false;
  /** -1 if nothing was pending. */
  #taken = -1;
  /** `null` during a request. */
  #quietSince: number | null = null;

  constructor(socket: Socket, shared: ServerShared, origin: Origin) {
    this.#socket = socket;
    this.#address = origin.address;
    this.secure = origin.secure;
    // TLS writes are never synchronous; each calls back when done.
    this.#written =
      'encrypted' in socket ? (error) => this.#partWritten(error) : null;
    this.#shared = shared;
    this.#deadline = shared.now + shared.options.headersTimeout;
    const heads = new RequestHeads();
    this.#reader = new MessageReader({
      parse: (text) => heads.read(text),
      sink: this,
      mostHeadBytes: shared.options.maxHeaderBytes,
      skipsEmptyLine: true,
    });
  }

  get peer(): string {
    return this.#address ?? this.#socket.remoteAddress ?? '';
  }

  /** The bytes are valid only during the call. Returns false after the connection was released. */
  receive(bytes: Buffer): boolean {
    if (this.#givenUp) return false;
    if (this.#ended) {
      // Dropped: otherwise the system would continue to read this socket.
      this.#waitForTurn();
      return true;
    }
    this.#beginTurn();
    try {
      this.#reader.feed(bytes);
    } catch (error) {
      this.#broken(error);
    }
    this.#settle();
    return true;
  }

  /**
   * A client that waits for a response has disconnected. One that has a part gets the rest as long
   * as parts follow.
   */
  finish(): void {
    // The last response is pending, or this side is closed too.
    if (this.#ended) return;
    const call = this.#call;
    if (call !== null) {
      this.#stop();
      if (!call.begun) {
        this.#socket.destroy();
        return;
      }
      if (!call.bodyWhole)
        call.failBody(
          new WireError(
            'cut_off',
            'The request ended before its body was whole.',
          ),
        );
      this.#endIfSilent(call);
      return;
    }
    try {
      this.#reader.finish();
      this.#end(0);
    } catch (error) {
      this.#broken(error);
    }
  }

  #endIfSilent(call: ServerCall): void {
    const { sentBytes } = call;
    setTimeout(() => {
      if (this.#call !== call) return;
      if (call.sentBytes > sentBytes || this.#isWriting)
        this.#endIfSilent(call);
      else this.#socket.destroy();
    }, SILENCE).unref();
  }

  close(): void {
    this.#stop();
    const call = this.#call;
    if (call !== null) this.#endCall(call, true);
    this.#shared.closed(this);
  }

  drained(): void {
    this.#call?.drained();
  }

  endIfLate(now: number): void {
    if (now < this.#deadline) return;
    this.#deadline = Number.POSITIVE_INFINITY;
    if (this.#waiting === 'close') this.#socket.destroy();
    else if (this.#waiting === 'next') this.#end(IDLE_LINGER);
    else if (this.#waiting !== 'nothing')
      this.#broken(
        new WireError('too_late', 'The request did not arrive in time.'),
      );
  }

  endIfStalled(): void {
    const socket = this.#socket;
    if (!this.#isWriting) {
      this.#taken = -1;
      return;
    }
    const taken = socket.bytesWritten - socket.writableLength;
    if (taken === this.#taken) socket.destroy();
    this.#taken = taken;
  }

  endIfQuiet(now: number): void {
    const isQuiet =
      !this.#ended &&
      this.#call === null &&
      !this.#reader.inMessage &&
      !this.#waitsForTurn;
    this.#quietSince = isQuiet ? (this.#quietSince ?? now) : null;
    if (this.#quietSince !== null && now - this.#quietSince >= QUIET)
      this.#end(IDLE_LINGER);
  }

  /**
   * Derived from the deadline, so requests cost nothing. A response that is complete may leave a
   * slow body behind.
   */
  get idleSince(): number {
    if (this.#call !== null || this.#ended || this.#waitsForTurn)
      return Number.POSITIVE_INFINITY;
    const { headersTimeout, requestTimeout, keepAliveTimeout } =
      this.#shared.options;
    if (this.#waiting === 'next') return this.#deadline - keepAliveTimeout;
    return (
      this.#deadline -
      (this.#waiting === 'body' ? requestTimeout : headersTimeout)
    );
  }

  endIdle(): void {
    this.#end(IDLE_LINGER);
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** Only during an unanswered request. */
  takeOver(): { readonly socket: Socket; readonly rest: Buffer | null } {
    const rest = this.#reader.takeRest();
    this.#givenUp = true;
    this.#stop();
    this.#await('nothing', Number.POSITIVE_INFINITY);
    this.resume();
    this.#socket.removeAllListeners('end').removeAllListeners('drain');
    return { socket: this.#socket, rest };
  }

  head(head: RequestHead): void {
    const { now, options } = this.#shared;
    if (this.#waiting !== 'head')
      this.#requestDeadline = now + options.requestTimeout;
    if (head.framing === 0) this.#await('nothing', Number.POSITIVE_INFINITY);
    else this.#await('body', this.#requestDeadline);
    const call = new ServerCall(this, head);
    this.#call = call;
    this.#requests++;
    this.#shared.inFlight++;
    options.handle(call);
  }

  body(bytes: Buffer): void {
    this.#call?.takeBody(bytes);
  }

  end(): void {
    const call = this.#call;
    if (call === null) this.#next();
    else {
      this.#await('nothing', Number.POSITIVE_INFINITY);
      call.endBody();
    }
  }

  mayPersist(): boolean {
    const { leaving, options } = this.#shared;
    if (this.#ended || this.#requests >= options.maxRequestsPerConnection)
      return false;
    return !(leaving && this.#reader.waiting === 0);
  }

  closing(persistent: boolean, dated: boolean): string {
    return this.#shared.closing.text(persistent, dated);
  }

  write(data: string | Buffer, more?: string | Buffer): boolean {
    const socket = this.#socket;
    if (more === undefined) return this.#queue(data);
    socket.cork();
    this.#queue(data);
    const wantsMore = this.#queue(more);
    socket.uncork();
    return wantsMore;
  }

  #queue(data: string | Buffer): boolean {
    if (this.#written !== null)
      return this.#socket.write(data, 'latin1', this.#written);
    return typeof data === 'string'
      ? this.#socket.write(data, 'latin1')
      : this.#socket.write(data);
  }

  get #isWriting(): boolean {
    return this.#socket.writableLength > 0;
  }

  responded(persistent: boolean): void {
    if (!this.#isWriting) this.#responseSent(persistent);
    else if (this.#written !== null) this.#persistent = persistent;
    else
      this.#socket.write('', (error) => {
        // After an abort, `close` follows.
        if (!error) this.#responseSent(persistent);
      });
  }

  cutOff(): void {
    // HTTP/1.0 takes the end of the connection for the end of the body, so the connection must be
    // reset.
    if (this.#call?.minor === 0 && this.#written === null)
      this.#socket.resetAndDestroy();
    // With TLS, a close without close_notify is detected as truncation.
    else this.#socket.destroy();
  }

  pause(): void {
    if (this.#paused) return;
    this.#paused = true;
    this.#socket.pause();
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#socket.resume();
  }

  #partWritten(error: Error | null | undefined): void {
    const persistent = this.#persistent;
    if (persistent === null || error || this.#socket.writableLength > 0) return;
    this.#persistent = null;
    this.#responseSent(persistent);
  }

  #responseSent(persistent: boolean): void {
    const call = this.#call;
    if (call === null) return;
    const { inBody } = this.#reader;
    const isLast = !persistent || this.#ended;
    if (isLast) this.#end(LINGER);
    this.#endCall(call, false);
    if (isLast) return;
    if (inBody) this.resume();
    else this.#next();
  }

  #endCall(call: ServerCall, left: boolean): void {
    this.#call = null;
    this.#shared.inFlight--;
    call.finish(left);
  }

  #next(): void {
    if (this.#ended) return;
    if (this.#reader.waiting > 0 && this.#turnIsOver()) {
      this.#await('nothing', Number.POSITIVE_INFINITY);
      this.#waitForTurn();
      return;
    }
    this.#await(
      'next',
      this.#shared.now + this.#shared.options.keepAliveTimeout,
    );
    try {
      this.#reader.next();
    } catch (thrown) {
      this.#broken(thrown);
    }
    this.#settle();
  }

  #waitForTurn(): void {
    this.#waitsForTurn = true;
    this.pause();
    this.#shared.turns.add(this);
  }

  takeTurn(): void {
    this.#waitsForTurn = false;
    if (this.#ended) this.resume();
    else {
      this.#beginTurn();
      this.#next();
    }
  }

  #beginTurn(): void {
    this.#turnBegan = this.#requests;
    this.#turnTime = 0;
  }

  #turnIsOver(): boolean {
    const most = this.#shared.turns.busy ? 1 : TURN_REQUESTS;
    if (this.#requests - this.#turnBegan >= most) return true;
    const now = performance.now();
    if (this.#turnTime === 0) this.#turnTime = now;
    return now - this.#turnTime >= TURN_TIME;
  }

  #settle(): void {
    if (this.#ended || this.#waitsForTurn) return;
    if (this.#call !== null) {
      if (this.#reader.waiting > MOST_AHEAD) this.pause();
      // A paused connection does not report that its client disconnected.
      else if (!this.#reader.inBody) this.resume();
      return;
    }
    if (
      this.#reader.inMessage &&
      (this.#waiting === 'first' || this.#waiting === 'next')
    ) {
      const { now, options } = this.#shared;
      this.#requestDeadline = now + options.requestTimeout;
      this.#await('head', now + options.headersTimeout);
    }
    this.resume();
  }

  #broken(thrown: unknown): void {
    if (!(thrown instanceof WireError)) throw thrown;
    const call = this.#call;
    this.#reader.stop();
    if (call === null) {
      // A request with a complete response gets no second one for the rest of its body.
      if (this.#waiting === 'body') this.#end(LINGER);
      else this.#refuse(thrown);
    } else {
      this.#ended = true;
      if (!call.over) call.failBody(thrown);
    }
  }

  refuse(error: WireError): void {
    this.#refuse(error);
    this.resume();
  }

  #refuse(error: WireError): void {
    const reply: BrokenReply = {
      peer: this.peer,
      respond: (status, fields, body) => {
        if (this.#socket.destroyed) return;
        const call = new ServerCall(this, NO_REQUEST);
        this.#call = call;
        this.#shared.inFlight++;
        call.respond(status, '', fields, body);
      },
      drop: () => this.#socket.destroy(),
    };
    this.#stop();
    this.#await('nothing', Number.POSITIVE_INFINITY);
    this.#shared.options.refuse(error, reply);
  }

  #stop(): void {
    this.#ended = true;
    this.#reader.stop();
  }

  /** Reads on for a while, so that the client receives the response. */
  #end(linger: number): void {
    this.#stop();
    this.resume();
    this.#await('close', this.#shared.now + linger);
    this.#socket.end();
  }

  #await(what: Waiting, deadline: number): void {
    this.#waiting = what;
    this.#deadline = deadline;
  }
}

const NO_REQUEST: RequestHead = {
  method: 'GET',
  target: '',
  minor: 1,
  fields: {
    list: [],
    lengths: [],
    codings: [],
    hosts: [],
    close: true,
    keepAlive: false,
    meaning: null,
  },
  framing: 0,
  persistent: false,
};
