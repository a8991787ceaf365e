import { setTimeout as pause } from 'node:timers/promises';
import { Connection, get, OK } from '../connection.ts';
import { KEYS } from '../work.ts';

/**
 * Milliseconds: every eighth client of a balancer pauses up to this long, so that a stop finds idle
 * connections.
 */
const PAUSE = 400;
/** Nothing was sent: a balancer tries the next gateway. */
const REFUSED = 'ECONNREFUSED';

interface ClientsOptions {
  /**
   * One port is a balancer's, with kept-alive connections. Several are the gateways' own, with a
   * connection per request; if it is refused, the next gateway is tried.
   */
  readonly ports: readonly number[];
  readonly connections: number;
  readonly requests: number;
  readonly ended: () => boolean;
}

/** One request after the other, without retries. */
export class Clients {
  sent = 0;
  answered = 0;
  /** Connections refused before anything was sent. */
  refused = 0;
  /** Requests without a 200, by result. */
  readonly lost = new Map<string, number>();
  readonly #options: ClientsOptions;
  readonly #request = get('/pets', KEYS.admitted);

  constructor(options: ClientsOptions) {
    this.#options = options;
  }

  get lostInAll(): number {
    return this.lost.values().reduce((sum, count) => sum + count, 0);
  }

  async run(): Promise<void> {
    const { connections } = this.#options;
    await Promise.all(Array.from({ length: connections }, (_, i) => this.#send(i)));
  }

  async #send(client: number): Promise<void> {
    const { requests, ended, ports } = this.#options;
    const isKept = ports.length === 1;
    let connection: Connection | null = null;
    for (let turn = client; this.sent < requests || !ended(); turn++) {
      if (isKept && client % 8 === 7) await pause(Math.random() * PAUSE);
      this.sent++;
      let outcome = REFUSED;
      for (let tried = 0; outcome === REFUSED && tried < ports.length; tried++) {
        if (!isKept || connection === null || connection.ended)
          connection = new Connection(ports[(turn + tried) % ports.length]!);
        outcome = await connection.ask(this.#request);
        if (!isKept) connection.close();
        if (outcome === REFUSED) this.refused++;
      }
      if (outcome === OK) this.answered++;
      else this.lost.set(outcome, (this.lost.get(outcome) ?? 0) + 1);
    }
    connection?.close();
  }
}
