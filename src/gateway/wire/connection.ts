import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Refusal } from '../../errors/refusals.ts';
import { interrupt } from './interruption.ts';
import { refusalOf } from './parser-errors.ts';

/** Requests of one connection that may wait. A caller that pipelines more gets answers to these and is then cut off. */
const MOST_WAITING = 64;

/** Milliseconds for which an ended connection is still read: unread bytes would reset it and lose the answer. */
const LINGER = 1_000;
/** The same for a connection that ends between two requests: its caller has the last answer. */
const IDLE_LINGER = 100;

/** Milliseconds between two requests after which a caller does not seem to be about to send the next. */
const QUIET = 100;

export interface ConnectionOptions {
  readonly socket: Socket;
  /** Starts to handle a request. Never throws. */
  readonly begin: (response: ServerResponse) => void;
  /** Called once for each begun request, when its answer is sent or its caller has left. */
  readonly ended: () => void;
  /** Answers a parser or timeout error, which has no request. Never rejects. */
  readonly answerUnparsed: (refusal: Refusal, socket: Socket) => Promise<void>;
}

/**
 * One connection of a caller. It handles one request at a time and begins the next when the previous answer is sent, so
 * requests happen in the order the caller sent them (RFC 9112 section 9.3.2). It never takes bytes after an error, or after
 * an answer that ends the connection, for a request.
 */
export class Connection {
  readonly #options: ConnectionOptions;
  /** The answer in progress; it knows its request. */
  #current: ServerResponse | null = null;
  /** The latest request, answered or not. */
  #last: IncomingMessage | null = null;
  readonly #waiting: ServerResponse[] = [];
  /** One listener for all answers: only the current one can close. */
  readonly #closed = () => this.#next();
  /** Whether the connection takes no more requests. */
  #over = false;
  /** The parser's error, to answer in its turn. */
  #error: Error | null = null;
  #taken = -1;
  /** Whether the connection is to end soon, without losing a request. */
  #leaving = false;
  /** Since when it is known to be between two requests; `null`: it is not. */
  #quietSince: number | null = null;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    const { socket } = options;
    const destroySoon = socket.destroySoon.bind(socket);
    // Node closes at once after the last answer. With unread bytes the close is a reset, which can overtake the answer.
    socket.destroySoon = () => {
      if (this.#leaving) this.#stopReading();
      if (this.#leaving || this.#last?.complete === false) this.#linger(LINGER);
      else destroySoon();
    };
  }

  take(response: ServerResponse): void {
    if (this.#over) return;
    this.#last = response.req;
    if (this.#current === null) this.#begin(response);
    else if (this.#waiting.length < MOST_WAITING) this.#waiting.push(response);
    else this.#stopReading();
  }

  /** Whether the connection may change its protocol now. With answers in progress it ends after them instead. */
  mayUpgrade(): boolean {
    if (this.#over) return false;
    this.#over = true;
    return this.#current === null;
  }

  /** The input is not HTTP, or came too late. Earlier requests get their answers first. */
  fail(error: NodeJS.ErrnoException): void {
    const { socket } = this.#options;
    if (this.#over) return;
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    this.#stopReading();
    const open = this.#waiting.at(-1) ?? this.#current;
    if (open !== null && !open.req.complete) interrupt(open.req, refusalOf(error, socket));
    else if (open !== null) this.#error = error;
    else if (this.#last?.complete === false) this.#linger(LINGER);
    else this.#answer(error);
  }

  /** Ends the connection if its caller has read nothing of the answer since the last call. */
  endIfStalled(): void {
    const { socket } = this.#options;
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
    if (this.#current !== null) this.#makeLast(this.#current);
  }

  /** Ends a connection that is between two requests, once it has been so for a while; `now` in milliseconds. */
  endIfQuiet(isIdle: boolean, now: number): void {
    const isQuiet = isIdle && !this.#over && this.#current === null;
    this.#quietSince = isQuiet ? (this.#quietSince ?? now) : null;
    if (this.#quietSince === null || now - this.#quietSince < QUIET) return;
    this.#stopReading();
    this.#linger(IDLE_LINGER);
  }

  #begin(response: ServerResponse): void {
    this.#current = response;
    if (this.#leaving) this.#makeLast(response);
    response.on('close', this.#closed);
    this.#options.begin(response);
  }

  #next(): void {
    const { shouldKeepAlive } = this.#current!;
    this.#current = null;
    this.#options.ended();
    if (!shouldKeepAlive || this.#options.socket.destroyed) {
      this.#over = true;
      return;
    }
    const next = this.#waiting.shift();
    if (next) this.#begin(next);
    else if (this.#error !== null) this.#answer(this.#error);
    else if (this.#over) this.#linger(LINGER);
  }

  /** Requests that wait behind it are answered too, and an answer that has begun cannot say it any more. */
  #makeLast(response: ServerResponse): void {
    if (this.#waiting.length > 0 || response.headersSent) return;
    response.shouldKeepAlive = false;
    // A mount may have set what its answer will say, and Node takes that first.
    if (response.hasHeader('Connection')) response.setHeader('Connection', 'close');
  }

  #answer(error: Error): void {
    const { socket, answerUnparsed } = this.#options;
    void answerUnparsed(refusalOf(error, socket), socket).then(() => this.#linger(LINGER));
  }

  /** Detaches the parser; reads and drops further bytes. */
  #stopReading(): void {
    this.#over = true;
    const { socket } = this.#options;
    socket.removeAllListeners('data');
    socket.on('data', () => {});
    socket.resume();
  }

  #linger(milliseconds: number): void {
    const { socket } = this.#options;
    if (socket.destroyed) return;
    socket.end();
    const deadline = setTimeout(() => socket.destroy(), milliseconds);
    socket.once('close', () => clearTimeout(deadline));
  }
}
