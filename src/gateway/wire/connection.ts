import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Refusal } from '../../errors/refusals.ts';
import { interrupt } from './interruption.ts';
import { refusalOf } from './parser-errors.ts';

/** Requests of one connection that may wait for their turn. Whoever pipelines more is answered so far, and cut off. */
const MOST_WAITING = 64;

/** How long a connection that was ended is still read, so that what is under way does not reset the answer away. */
const LINGER = 1_000;

export interface ConnectionOptions {
  readonly socket: Socket;
  /** Starts on a request. Never throws. */
  readonly begin: (response: ServerResponse) => void;
  /** An answer is through, or its caller has left. Called once for each request that was begun. */
  readonly ended: () => void;
  /** Answers what never became a request. Never rejects. */
  readonly answerUnparsed: (refusal: Refusal, socket: Socket) => Promise<void>;
}

/**
 * One connection of a caller. Requests are taken one after the other, the next when the answer before is through: the order
 * in which a caller sent them is the order in which they happen (RFC 9112 section 9.3.2), and nothing that stands behind an
 * error, or behind an answer that ends the connection, is ever taken for a request.
 */
export class Connection {
  readonly #options: ConnectionOptions;
  /** The answer under way; it knows its request. */
  #current: ServerResponse | null = null;
  /** The request that arrived last, whether or not it was answered. */
  #last: IncomingMessage | null = null;
  readonly #waiting: ServerResponse[] = [];
  /** One for all answers: it is always the current one that closes. */
  readonly #closed = () => this.#next();
  /** Nothing that arrives now is taken for a request. */
  #over = false;
  /** What the parser stumbled on, to be answered in its turn. */
  #error: Error | null = null;
  #taken = -1;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    const { socket } = options;
    const destroySoon = socket.destroySoon.bind(socket);
    // Node closes at once after a last answer; unread bytes would make that a reset, which can overtake the answer.
    socket.destroySoon = () => (this.#last?.complete === false ? this.#linger() : destroySoon());
  }

  take(response: ServerResponse): void {
    if (this.#over) return;
    this.#last = response.req;
    if (this.#current === null) this.#begin(response);
    else if (this.#waiting.length < MOST_WAITING) this.#waiting.push(response);
    else this.#stopReading();
  }

  /** Whether the connection may change its protocol now. One with answers under way ends after them instead. */
  mayUpgrade(): boolean {
    if (this.#over) return false;
    this.#over = true;
    return this.#current === null;
  }

  /** What came is not HTTP, or did not come in time. Whatever was asked before is answered first. */
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
    else if (this.#last?.complete === false) this.#linger();
    else this.#answer(error);
  }

  /** Ends the connection of a caller that has taken nothing of its answer since the last look. */
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

  #begin(response: ServerResponse): void {
    this.#current = response;
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
    else if (this.#over) this.#linger();
  }

  #answer(error: Error): void {
    const { socket, answerUnparsed } = this.#options;
    void answerUnparsed(refusalOf(error, socket), socket).then(() => this.#linger());
  }

  /** Detaches the parser: what still comes is read and dropped. */
  #stopReading(): void {
    this.#over = true;
    const { socket } = this.#options;
    socket.removeAllListeners('data');
    socket.on('data', () => {});
    socket.resume();
  }

  #linger(): void {
    const { socket } = this.#options;
    if (socket.destroyed) return;
    socket.end();
    const deadline = setTimeout(() => socket.destroy(), LINGER);
    socket.once('close', () => clearTimeout(deadline));
  }
}
