import type { Socket } from 'node:net';
import { type RequestHead, RequestHeads } from './heads.ts';
import type { Origin } from './opening.ts';
import { MessageReader, type MessageSink } from './reader.ts';
import { type Carrier, ServerCall } from './server-call.ts';
import type { Turns, TurnTaker } from './turns.ts';
import { WireError } from './wire-error.ts';
import type { Closing, FieldLines } from './writing.ts';

/** Milliseconds for which an ended connection is still read: unread bytes would reset it and lose the answer. */
const LINGER = 1_000;
/** The same for a connection that ends between two requests: its caller has the last answer. */
const IDLE_LINGER = 100;
/** Pipelined requests that a connection may have answered in a row before others have their turn; one if others wait already. */
const TURN_REQUESTS = 8;
/** The same in milliseconds. */
const TURN_TIME = 2;
/** Milliseconds between two requests after which a caller does not seem to be about to send the next. */
const QUIET = 100;

/** What all connections of a server share. */
export interface ServerShared {
  readonly limits: ServerLimits;
  readonly closing: Closing;
  readonly turns: Turns;
  /** Milliseconds on the clock of `performance.now()`, rounded up to the next look of the server: no deadline is early. */
  now: number;
  /** Requests that have begun and are not over. */
  inFlight: number;
  /** Takes each request in its turn. Never throws. */
  readonly handle: (call: ServerCall) => void;
  /** Answers input that is no request, once, through `reply`. */
  readonly refuse: (error: WireError, reply: BrokenReply) => void;
  readonly closed: (connection: ServerConnection) => void;
}

export interface ServerLimits {
  readonly mostHeadBytes: number;
  /** Milliseconds for a head, from its first byte or from the beginning of the connection. */
  readonly headTimeout: number;
  /** For a whole request. */
  readonly requestTimeout: number;
  /** Between two requests. */
  readonly idleTimeout: number;
  /** Requests on one connection; the response to the last one ends it. */
  readonly mostRequests: number;
}

/** The way to answer input that is no request. The connection ends behind it. */
export interface BrokenReply {
  readonly peer: string;
  answer(status: number, fields: FieldLines, body: string): void;
  /** Ends without an answer. */
  drop(): void;
}

const UNTOLD: Origin = { address: null, secure: false };

/** What a connection waits for; each has its deadline. */
type Waiting = 'first' | 'next' | 'head' | 'body' | 'nothing' | 'close';

/**
 * One connection of a caller. It deals with one request at a time and reads the next when the answer before is sent, so
 * requests happen in the order in which they were sent (RFC 9112 section 9.3.2). It never takes bytes behind an error, or
 * behind an answer that ends the connection, for a request.
 */
export class ServerConnection implements Carrier, MessageSink<RequestHead>, TurnTaker {
  readonly secure: boolean;
  readonly #socket: Socket;
  /** What a socket that speaks TLS itself calls behind each write; `null`: it does not. */
  readonly #written: ((error?: Error | null) => void) | null;
  /** Whether the connection goes on behind the answer that is on its way over TLS; `null`: none is, or not yet as a whole. */
  #goesOn: boolean | null = null;
  /** Where it comes from, if its socket does not say. */
  readonly #address: string | null;
  readonly #shared: ServerShared;
  readonly #reader: MessageReader<RequestHead>;
  #call: ServerCall | null = null;
  #waiting: Waiting = 'first';
  #deadline: number;
  /** When the request that is being read must be whole. */
  #requestDeadline = 0;
  #paused = false;
  #requests = 0;
  /** The number of requests at the beginning of this turn. */
  #turnBegan = 0;
  /** When the first pipelined request of this turn was followed by another; 0: not yet. */
  #turnTime = 0;
  /** The next request has been received and waits for its turn. */
  #waitsForTurn = false;
  /** No request is taken any more. */
  #ended = false;
  /** Another protocol has the socket. */
  #givenUp = false;
  #leaving = false;
  /** Bytes that the caller had taken at the last look; -1: nothing was on its way. */
  #taken = -1;
  /** Since when it is known to be between two requests; `null`: it is not. */
  #quietSince: number | null = null;

  constructor(socket: Socket, shared: ServerShared, origin: Origin = UNTOLD) {
    this.#socket = socket;
    this.#address = origin.address;
    this.secure = origin.secure;
    // Over TLS no write is done at once, and each tells when it is.
    this.#written = 'encrypted' in socket ? (error) => this.#partWritten(error) : null;
    this.#shared = shared;
    this.#deadline = shared.now + shared.limits.headTimeout;
    const heads = new RequestHeads();
    this.#reader = new MessageReader({
      parse: (text) => heads.read(text),
      sink: this,
      mostHeadBytes: shared.limits.mostHeadBytes,
      skipsEmptyLine: true,
    });
  }

  get identity(): object {
    return this;
  }

  get peer(): string {
    return this.#address ?? this.#socket.remoteAddress ?? '';
  }

  /** The socket has read bytes, which are valid only during the call. Returns false once the connection is given up. */
  receive(bytes: Buffer): boolean {
    if (this.#givenUp) return false;
    if (this.#ended) {
      // Dropped. The system would go on with this socket while it has bytes.
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

  /** The caller has ended its side. An answer that has begun is finished; a caller that waits for one has left. */
  finish(): void {
    // Its last answer is still to come, or the own side has ended too.
    if (this.#ended) return;
    const call = this.#call;
    if (call !== null) {
      this.#stop();
      if (!call.begun) this.#socket.destroy();
      else if (!call.bodyWhole) call.failBody(new WireError('cut_off', 'The request ended before its body was whole.'));
      return;
    }
    try {
      this.#reader.finish();
      this.#end(0);
    } catch (error) {
      this.#broken(error);
    }
  }

  /** The socket is closed. */
  close(): void {
    this.#stop();
    const call = this.#call;
    this.#call = null;
    call?.finish(true);
    this.#shared.closed(this);
  }

  drained(): void {
    this.#call?.drained();
  }

  /** Ends what is over time; `now` on the clock of the server. */
  endIfLate(now: number): void {
    if (now < this.#deadline) return;
    this.#deadline = Number.POSITIVE_INFINITY;
    if (this.#waiting === 'close') this.#socket.destroy();
    else if (this.#waiting === 'next') this.#end(IDLE_LINGER);
    else if (this.#waiting !== 'nothing') this.#broken(tooLate());
  }

  /** Ends the connection if its caller has read nothing of the answer since the last call. */
  endIfStalled(): void {
    const socket = this.#socket;
    if (socket.writableLength === 0) {
      this.#taken = -1;
      return;
    }
    const taken = socket.bytesWritten - socket.writableLength;
    if (taken === this.#taken) socket.destroy();
    this.#taken = taken;
  }

  /** From now on the last answer to what has come ends the connection, and says so. */
  leave(): void {
    this.#leaving = true;
  }

  /** Ends a connection that is between two requests, once it has been so for a while; `now` in milliseconds. */
  endIfQuiet(now: number): void {
    const isQuiet = !this.#ended && this.#call === null && !this.#reader.inMessage && !this.#waitsForTurn;
    this.#quietSince = isQuiet ? (this.#quietSince ?? now) : null;
    if (this.#quietSince !== null && now - this.#quietSince >= QUIET) this.#end(IDLE_LINGER);
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /**
   * Gives the connection up for another protocol. Returns the socket, and the bytes behind the request. Only while its request
   * is in progress and not answered; the call ends with the socket.
   */
  takeOver(): { readonly socket: Socket; readonly rest: Buffer | null } {
    const rest = this.#reader.takeRest();
    this.#givenUp = true;
    this.#stop();
    this.#await('nothing', Number.POSITIVE_INFINITY);
    this.#resume();
    this.#socket.removeAllListeners('end').removeAllListeners('drain');
    return { socket: this.#socket, rest };
  }

  // What the reader tells.

  head(head: RequestHead): void {
    const { now, limits } = this.#shared;
    if (this.#waiting !== 'head') this.#requestDeadline = now + limits.requestTimeout;
    if (head.framing === 0) this.#await('nothing', Number.POSITIVE_INFINITY);
    else this.#await('body', this.#requestDeadline);
    const call = new ServerCall(this, head);
    this.#call = call;
    this.#requests++;
    this.#shared.inFlight++;
    this.#shared.handle(call);
  }

  body(bytes: Buffer): void {
    // The buffer is shared by all connections.
    this.#call?.takeBody(Buffer.from(bytes));
  }

  end(): void {
    const call = this.#call;
    if (call === null) this.#next();
    else {
      this.#await('nothing', Number.POSITIVE_INFINITY);
      call.endBody();
    }
  }

  // What the call asks for.

  mayGoOn(): boolean {
    if (this.#ended || this.#requests >= this.#shared.limits.mostRequests) return false;
    return !(this.#leaving && this.#reader.waiting === 0);
  }

  closing(goesOn: boolean, dated: boolean): string {
    return this.#shared.closing.text(goesOn, dated);
  }

  write(data: string | Buffer, more?: string | Buffer): boolean {
    const socket = this.#socket;
    if (more === undefined) {
      if (this.#written !== null) return socket.write(data, 'latin1', this.#written);
      return typeof data === 'string' ? socket.write(data, 'latin1') : socket.write(data);
    }
    socket.cork();
    this.write(data);
    const wantsMore = this.write(more);
    socket.uncork();
    return wantsMore;
  }

  answered(goesOn: boolean): void {
    if (this.#socket.writableLength === 0) this.#answerSent(goesOn);
    else if (this.#written !== null) this.#goesOn = goesOn;
    else
      this.#socket.write('', (error) => {
        // Of a connection that was cut off `close` tells.
        if (!error) this.#answerSent(goesOn);
      });
  }

  cutOff(): void {
    // HTTP/1.0 takes the end of the connection for the end of the body, so there it must be a reset.
    if (this.#call?.minor === 0 && this.#written === null) this.#socket.resetAndDestroy();
    // Over TLS an end without its own last word is seen as one that is cut off.
    else this.#socket.destroy();
  }

  callEnded(): void {
    this.#shared.inFlight--;
  }

  pauseBody(): void {
    this.#pause();
  }

  resumeBody(): void {
    this.#resume();
  }

  #partWritten(error: Error | null | undefined): void {
    const goesOn = this.#goesOn;
    // Of a connection that was cut off `close` tells.
    if (goesOn === null || error || this.#socket.writableLength > 0) return;
    this.#goesOn = null;
    this.#answerSent(goesOn);
  }

  #answerSent(goesOn: boolean): void {
    const call = this.#call;
    if (call === null) return;
    const bodyWhole = !this.#reader.inBody;
    if (!goesOn || this.#ended) {
      this.#call = null;
      this.#end(LINGER);
      call.finish(false);
      return;
    }
    if (bodyWhole) {
      this.#call = null;
      call.finish(false);
      this.#next();
      return;
    }
    // The rest of a body nobody wants is read and dropped; then the next request is.
    this.#call = null;
    call.finish(false);
    this.#resume();
  }

  /** Reads the next request, which may have come already. */
  #next(): void {
    this.#call = null;
    if (this.#ended) return;
    if (this.#reader.waiting > 0 && this.#turnIsOver()) {
      this.#await('nothing', Number.POSITIVE_INFINITY);
      this.#waitForTurn();
      return;
    }
    const { now, limits } = this.#shared;
    this.#await('next', now + limits.idleTimeout);
    try {
      this.#reader.next();
    } catch (thrown) {
      this.#broken(thrown);
    }
    this.#settle();
  }

  #waitForTurn(): void {
    this.#waitsForTurn = true;
    this.#pause();
    this.#shared.turns.add(this);
  }

  takeTurn(): void {
    this.#waitsForTurn = false;
    if (this.#ended) this.#resume();
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

  /** Reads on, or waits with what came behind the request in progress. */
  #settle(): void {
    if (this.#ended || this.#waitsForTurn) return;
    if (this.#call !== null) {
      if (this.#reader.waiting > 0) this.#pause();
      // A connection that is not read does not say that its caller has left.
      else if (!this.#reader.inBody) this.#resume();
      return;
    }
    if (this.#reader.inMessage && (this.#waiting === 'first' || this.#waiting === 'next')) {
      const { now, limits } = this.#shared;
      this.#requestDeadline = now + limits.requestTimeout;
      this.#await('head', now + limits.headTimeout);
    }
    this.#resume();
  }

  #broken(thrown: unknown): void {
    if (!(thrown instanceof WireError)) throw thrown;
    const call = this.#call;
    this.#reader.stop();
    if (call === null) {
      // A request that has its answer gets no other for the rest of its body.
      if (this.#waiting === 'body') this.#end(LINGER);
      else this.#refuse(thrown);
    } else if (call.over) {
      // The answer is on its way, and ends the connection.
      this.#ended = true;
    } else {
      this.#ended = true;
      call.failBody(thrown);
    }
  }

  /** Answers that nothing on this connection is taken for a request, whatever comes. */
  refuse(error: WireError): void {
    this.#refuse(error);
    this.#resume();
  }

  #refuse(error: WireError): void {
    const reply: BrokenReply = {
      peer: this.peer,
      answer: (status, fields, body) => {
        if (this.#socket.destroyed) return;
        const call = new ServerCall(this, NO_REQUEST);
        this.#call = call;
        this.#shared.inFlight++;
        call.answer(status, '', fields, body);
      },
      drop: () => this.#socket.destroy(),
    };
    this.#stop();
    this.#await('nothing', Number.POSITIVE_INFINITY);
    this.#shared.refuse(error, reply);
  }

  /** Takes no request any more. */
  #stop(): void {
    this.#ended = true;
    this.#reader.stop();
  }

  /** Ends the own side, and reads on for a while, so that the other side gets what was sent. */
  #end(linger: number): void {
    this.#stop();
    this.#resume();
    this.#await('close', this.#shared.now + linger);
    this.#socket.end();
  }

  #await(what: Waiting, deadline: number): void {
    this.#waiting = what;
    this.#deadline = deadline;
  }

  #pause(): void {
    if (this.#paused) return;
    this.#paused = true;
    this.#socket.pause();
  }

  #resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#socket.resume();
  }
}

function tooLate(): WireError {
  return new WireError('too_late', 'The request did not arrive in time.');
}

/** What the answer to input that is no request belongs to. */
const NO_REQUEST: RequestHead = {
  method: 'GET',
  target: '',
  minor: 1,
  fields: { list: [], lengths: [], codings: [], hosts: [], close: true, keepAlive: false, meaning: null },
  framing: 0,
  persistent: false,
};
