import { setTimeout as pause } from 'node:timers/promises';
import { Connection, get, OK } from '../connection.ts';

/**
 * Milliseconds: every eighth client of a balancer pauses up to this long, so that a stop finds idle
 * connections.
 */
const PAUSE = 400;
/** Nothing was sent: a balancer tries the next gateway. */
const REFUSED = 'ECONNREFUSED';

export interface ClientsOptions {
  /**
   * One port is a balancer's, with kept-alive connections. Several are the gateways' own, with a
   * connection per request; if it is refused, the next gateway is tried.
   */
  readonly ports: readonly number[];
  readonly key: string;
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
  readonly #request: string;

  constructor(options: ClientsOptions) {
    this.#options = options;
    this.#request = get('/pets', options.key);
  }

  get lostInAll(): number {
    return this.lost.values().reduce((sum, count) => sum + count, 0);
  }

  async run(): Promise<void> {
    const { connections, ports } = this.#options;
    const clients = Array.from({ length: connections }, (_, i) =>
      ports.length === 1 ? this.#keep(ports[0]!, i % 8 === 7) : this.#connect(i),
    );
    await Promise.all(clients);
  }

  get #isRunning(): boolean {
    return this.sent < this.#options.requests || !this.#options.ended();
  }

  async #keep(port: number, pausing: boolean): Promise<void> {
    let connection = new Connection(port);
    while (this.#isRunning) {
      if (pausing) await pause(Math.random() * PAUSE);
      if (connection.ended) connection = new Connection(port);
      this.sent++;
      this.#count(await connection.ask(this.#request));
    }
    connection.close();
  }

  async #connect(first: number): Promise<void> {
    const { ports } = this.#options;
    for (let turn = first; this.#isRunning; turn++) {
      this.sent++;
      let outcome = REFUSED;
      for (let tried = 0; outcome === REFUSED && tried < ports.length; tried++) {
        const connection = new Connection(ports[(turn + tried) % ports.length]!);
        outcome = await connection.ask(this.#request);
        connection.close();
        if (outcome === REFUSED) this.refused++;
      }
      this.#count(outcome);
    }
  }

  #count(outcome: string): void {
    if (outcome === OK) this.answered++;
    else this.lost.set(outcome, (this.lost.get(outcome) ?? 0) + 1);
  }
}
