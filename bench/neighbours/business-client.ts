import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { Question } from './table.ts';

/** Milliseconds until the client gives up. */
export const PATIENCE = 12_000;

export interface Outcome {
  /** Milliseconds. */
  readonly took: number;
  /** The status, or the error. */
  readonly result: string;
}

/** Asks at a constant rate, whether or not it was answered; without retries. */
export class BusinessClient {
  readonly #port: number;
  readonly #key: string;
  readonly #agent = new Agent({ keepAlive: true });

  constructor(port: number, key: string) {
    this.#port = port;
    this.#key = key;
  }

  /** `rate` per second. */
  async ask(question: Question, count: number, rate: number): Promise<readonly Outcome[]> {
    const begun = performance.now();
    const outcomes: Promise<Outcome>[] = [];
    for (let i = 0; i < count; i++) {
      const wait = begun + (i * 1_000) / rate - performance.now();
      if (wait > 0) await pause(wait);
      outcomes.push(this.#askOnce(question));
    }
    return Promise.all(outcomes);
  }

  close(): void {
    this.#agent.destroy();
  }

  #askOnce({ method, path, body, fresh = false }: Question): Promise<Outcome> {
    const began = performance.now();
    return new Promise((resolve) => {
      const done = (result: string) => resolve({ took: performance.now() - began, result });
      const failed = (error: NodeJS.ErrnoException) =>
        done(error.name === 'AbortError' ? 'no response' : error.code!);
      const asked = request({
        port: this.#port,
        host: '127.0.0.1',
        method,
        path,
        headers: headersOf(this.#key, body),
        agent: fresh ? false : this.#agent,
        signal: AbortSignal.timeout(PATIENCE),
      });
      asked.once('response', (response) => {
        response.once('end', () => done(`${response.statusCode}`));
        response.once('error', failed).resume();
      });
      asked.once('error', failed).end(body);
    });
  }
}

function headersOf(key: string, body: string | undefined): Record<string, string> {
  const headers = { 'x-api-key': key };
  if (body === undefined) return headers;
  return { ...headers, 'content-type': 'application/json', 'content-length': `${body.length}` };
}
