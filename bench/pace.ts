import { setTimeout as pause } from 'node:timers/promises';
import { Connection } from './connection.ts';
import { type Spread, spread } from './statistics.ts';

/** Milliseconds; `at` by `performance.now()`. */
export interface Timed {
  readonly at: number;
  readonly took: number;
  /** The status line, or the error. */
  readonly outcome: string;
}

interface Pace {
  /** Requests per second. */
  readonly rate: number;
  readonly isOver: (sent: number) => boolean;
  /** Each request on a connection of its own. */
  readonly fresh?: boolean | undefined;
}

/**
 * Sends at an even pace, whether or not the last response came, without retries. Opens another
 * connection if all are busy, as a browser does.
 */
export class PacedClient {
  readonly #port: number;
  readonly #patience: number | undefined;
  #idle: Connection[] = [];

  constructor(port: number, patience?: number) {
    this.#port = port;
    this.#patience = patience;
  }

  async run(request: string, { rate, isOver, fresh = false }: Pace): Promise<Timed[]> {
    const sent: Promise<Timed>[] = [];
    const begun = performance.now();
    while (!isOver(sent.length)) {
      // Corrects the drift of timers in whole milliseconds.
      const wait = begun + (sent.length * 1_000) / rate - performance.now();
      if (wait > 0) await pause(wait);
      sent.push(this.#send(request, fresh));
    }
    return await Promise.all(sent);
  }

  close(): void {
    for (const one of this.#idle) one.close();
  }

  async #send(request: string, fresh: boolean): Promise<Timed> {
    this.#idle = this.#idle.filter(({ ended }) => !ended);
    const at = performance.now();
    const connection = (fresh ? undefined : this.#idle.pop()) ?? new Connection(this.#port);
    const outcome = await connection.ask(request, this.#patience);
    const took = performance.now() - at;
    if (fresh) connection.close();
    else this.#idle.push(connection);
    return { at, took, outcome };
  }
}

/** Milliseconds. */
export function timesOf(timed: readonly Timed[]): Spread {
  return spread(timed.map(({ took }) => took));
}

/** For example `3 × 503`. */
export function outcomes(timed: readonly Timed[]): string {
  return [...Map.groupBy(timed, ({ outcome }) => outcome.replace(/^HTTP\S+ (\d+).*/, '$1'))]
    .map(([outcome, { length }]) => `${length} × ${outcome}`)
    .join(', ');
}
