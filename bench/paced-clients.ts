import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

/** Milliseconds of `performance.now()`; `status` 0: no complete response. */
export interface TimedResponse {
  readonly at: number;
  readonly took: number;
  readonly status: number;
}

export class PacedClients {
  readonly asked: TimedResponse[] = [];
  readonly #url: string;
  readonly #key: string;
  readonly #rate: number;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  #ends = false;

  constructor(url: string, key: string, rate: number) {
    this.#url = url;
    this.#key = key;
    this.#rate = rate;
  }

  async run(): Promise<void> {
    const answers: Promise<void>[] = [];
    const begun = performance.now();
    while (!this.#ends) {
      const wait = begun + (answers.length * 1_000) / this.#rate - performance.now();
      if (wait > 0) await pause(wait);
      answers.push(this.#ask());
    }
    await Promise.all(answers);
    this.#agent.destroy();
  }

  stop(): void {
    this.#ends = true;
  }

  #ask(): Promise<void> {
    const at = performance.now();
    return new Promise((resolve) => {
      const done = (status: number) => {
        this.asked.push({ at, took: performance.now() - at, status });
        resolve();
      };
      request(this.#url, { agent: this.#agent, headers: { 'x-api-key': this.#key } }, (answer) => {
        answer.once('end', () => done(answer.statusCode!)).once('error', () => done(0));
        answer.resume();
      })
        .once('error', () => done(0))
        .end();
    });
  }
}
