import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** Milliseconds for an answer; what takes longer is lost. */
const PATIENCE = 30_000;
/** Every eighth caller waits up to so many milliseconds between two requests: its connections are idle when a stop begins. */
const PAUSE = 400;

export interface CallersOptions {
  readonly port: number;
  readonly key: string;
  readonly connections: number;
  /** They end when so many requests were sent and `ended` says so. */
  readonly requests: number;
  readonly ended: () => boolean;
}

/** Callers that send one request after the other on kept connections, and never send one twice. */
export class Callers {
  sent = 0;
  answered = 0;
  /** Requests without a 200, by what came instead. */
  readonly lost = new Map<string, number>();
  readonly #options: CallersOptions;

  constructor(options: CallersOptions) {
    this.#options = options;
  }

  get lostInAll(): number {
    return this.lost.values().reduce((sum, count) => sum + count, 0);
  }

  async run(): Promise<void> {
    await Promise.all(Array.from({ length: this.#options.connections }, (_, i) => this.#call(i % 8 === 7)));
  }

  async #call(pausing: boolean): Promise<void> {
    const { requests, ended, port, key } = this.#options;
    const request = `GET /pets HTTP/1.1\r\nHost: 127.0.0.1\r\nX-API-Key: ${key}\r\n\r\n`;
    let connection = new Connection(port);
    while (this.sent < requests || !ended()) {
      if (pausing) await pause(Math.random() * PAUSE);
      if (connection.ended) connection = new Connection(port);
      this.sent++;
      const outcome = await connection.ask(request);
      if (outcome === 'HTTP/1.1 200 OK') this.answered++;
      else this.lost.set(outcome, (this.lost.get(outcome) ?? 0) + 1);
    }
    connection.close();
  }
}

/** One connection, with one request at a time. */
class Connection {
  ended = false;
  readonly #socket: Socket;
  #text = '';
  #settle: (outcome: string) => void = () => {};

  constructor(port: number) {
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true });
    this.#socket.setTimeout(PATIENCE, () => this.#end('no answer in time'));
    this.#socket.on('data', (bytes) => this.#take(bytes.toString('latin1')));
    this.#socket.on('error', (error: NodeJS.ErrnoException) => this.#end(error.code ?? error.message));
    this.#socket.on('end', () => this.#end('the connection ended'));
  }

  /** Resolves with the status line, or with what happened instead of an answer. */
  ask(request: string): Promise<string> {
    return new Promise((resolve) => {
      this.#settle = resolve;
      this.#socket.write(request, 'latin1');
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #take(text: string): void {
    this.#text += text;
    const head = this.#text.indexOf('\r\n\r\n');
    if (head < 0) return;
    const [, length = 'unknown'] = /\r\ncontent-length: (\d+)\r\n/i.exec(this.#text.slice(0, head + 2)) ?? [];
    if (this.#text.length < head + 4 + Number(length)) return;
    const status = this.#text.slice(0, this.#text.indexOf('\r\n'));
    const last = /\r\nconnection: close\r\n/i.test(this.#text.slice(0, head + 2));
    this.#text = '';
    if (last) this.#end(status);
    else this.#settle(status);
  }

  #end(outcome: string): void {
    this.ended = true;
    this.#socket.destroy();
    this.#settle(outcome);
  }
}
