import type { ClientConnection, Question } from '@storegate/http1';
import { checkedLines, FieldLines, type OpenerOptions, openerTo, Pool } from '@storegate/http1';
import type { ChecksSettings, StatusRange } from '../../config/config.ts';
import type { Verdict } from './health.ts';

const LINES = checkedLines(['User-Agent', 'storegate', 'Accept', '*/*']);

/** Any response to this path is a sign of life. */
const ANY_PATH = '/';

/** The pool's connections may all be blocked by a backend that hangs. */
export class Prober {
  readonly #pool: Pool;
  #settings: ChecksSettings;
  #stop: (() => void) | null = null;

  constructor(url: string, settings: ChecksSettings, secure: Pick<OpenerOptions, 'tls' | 'lookup'>) {
    const origin = new URL(url);
    this.#settings = settings;
    const forEver = Number.POSITIVE_INFINITY;
    this.#pool = new Pool({
      connections: 1,
      mostWaiting: 0,
      // The prober has its own deadline.
      ...{ connectTimeout: 120_000, headTimeout: forEver, bodyTimeout: forEver },
      host: origin.host,
      basePath: origin.pathname.replace(/\/$/, ''),
      open: openerTo(origin, secure),
    });
  }

  use(settings: ChecksSettings): void {
    this.#settings = settings;
  }

  keepOnly(addresses: ReadonlySet<string>): void {
    this.#pool.keepOnly(addresses);
  }

  /** One at a time. Never rejects; does not resolve after it is closed. */
  ask(): Promise<{ verdict: Verdict; error?: unknown }> {
    const { path, timeout, statuses } = this.#settings;
    return new Promise((resolve) => {
      const asked: Question = { method: 'GET', target: path ?? ANY_PATH, fields: new FieldLines(), body: null };
      asked.fields.addLines(LINES);
      const connection = this.#pool.take() as ClientConnection;
      const timer = setTimeout(() => done('silent', new Error(`no answer to a check within ${timeout} ms`)), timeout);
      this.#stop = () => clearTimeout(timer);
      const done = (verdict: Verdict, error?: unknown) => {
        this.#stop?.();
        this.#stop = null;
        // A connection with a complete response is reused.
        connection.cancel(asked);
        resolve(error === undefined ? { verdict } : { verdict, error });
      };
      connection.ask(asked, {
        begun() {},
        answer: ({ status }) => {
          const isGood = path === null || isIn(status, statuses);
          done(isGood ? 'good' : 'bad', isGood ? undefined : new Error(`the check was answered with ${status}`));
        },
        fail: (error) => done('silent', error),
      });
    });
  }

  close(): void {
    this.#stop?.();
    this.#pool.close();
  }
}

export function isIn(status: number, ranges: readonly StatusRange[]): boolean {
  return ranges.some(({ from, to }) => from <= status && status <= to);
}
