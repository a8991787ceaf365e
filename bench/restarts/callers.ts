import { setTimeout as pause } from 'node:timers/promises';
import { Connection, OK } from '../connection.ts';

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
      if (outcome === OK) this.answered++;
      else this.lost.set(outcome, (this.lost.get(outcome) ?? 0) + 1);
    }
    connection.close();
  }
}
