import { WakeableSleep } from '../common/wakeable-sleep.ts';
import type { WebhookSettings } from '../config/config.ts';
import { Outage } from '../errors/outage.ts';
import type { Observe } from '../observe/events.ts';
import { pauseAfter, waitAfter } from './backoff.ts';
import type { Endpoint } from './endpoints.ts';
import type { Job, Outbox } from './outbox.ts';
import { type Sent, send } from './send.ts';

/** Milliseconds between two looks for what is due; whoever adds something wakes it at once. */
const LOOK = 1_000;
/** Milliseconds that a stop waits for the answer to what was just sent. */
const LAST = 2_000;

export interface DeliveriesOptions {
  readonly endpoints: readonly Endpoint[];
  readonly outbox: Outbox;
  readonly settings: Pick<WebhookSettings, 'timeout' | 'retryFor'>;
  readonly secrets: readonly string[];
  readonly clock: () => number;
  readonly observe: Observe;
}

/** Brings what waits in an outbox to its receivers: to each of them one event after the other. */
export class Deliveries {
  readonly #options: DeliveriesOptions;
  #isClosed = false;
  readonly #cut = new AbortController();
  readonly #running: Promise<unknown>;
  readonly #sleeps: WakeableSleep[];

  constructor(options: DeliveriesOptions) {
    this.#options = options;
    this.#sleeps = options.endpoints.map(() => new WakeableSleep());
    this.#running = Promise.all(options.endpoints.map((endpoint, i) => this.#serve(endpoint, this.#sleeps[i]!)));
  }

  /** Something new may be due. */
  wake(): void {
    for (const sleep of this.#sleeps) sleep.wake();
  }

  /** What was sent and not answered is sent again when its lease is over. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.wake();
    const timer = setTimeout(() => this.#cut.abort(), LAST);
    await this.#running;
    clearTimeout(timer);
  }

  async #serve(endpoint: Endpoint, sleep: WakeableSleep): Promise<void> {
    while (!this.#isClosed) {
      if (!(await this.#deliverNext(endpoint))) await sleep.sleep(LOOK);
    }
  }

  /** Answers whether there may be more to do at once. */
  async #deliverNext(endpoint: Endpoint): Promise<boolean> {
    try {
      const job = await this.#options.outbox.take(endpoint.id, this.#options.clock());
      if (job === null) return false;
      await this.#deliver(endpoint, job);
      return true;
    } catch (error) {
      // The state tells of its outages itself; what was taken is due again when its lease is over.
      if (!(error instanceof Outage)) this.#options.observe({ type: 'bug', id: 'webhooks', error });
      return false;
    }
  }

  async #deliver(endpoint: Endpoint, job: Job): Promise<void> {
    const { outbox, settings, secrets, clock, observe } = this.#options;
    const tell = (result: 'delivered' | 'failed' | 'dropped') =>
      observe({ type: 'webhook.delivery', endpoint: endpoint.host, event: job.type, result, count: 1 });
    if (job.at + settings.retryFor <= clock()) {
      await outbox.giveUp(job, clock());
      return tell('dropped');
    }
    const { url } = endpoint;
    const signal = this.#cut.signal;
    const sent = await send({
      url,
      id: job.id,
      body: job.body,
      secrets,
      timeout: settings.timeout,
      now: clock(),
      signal,
    });
    if (signal.aborted && !sent.delivered) return;
    const now = clock();
    if (sent.delivered) {
      await outbox.done(job, now);
      if (job.failures > 0) observe({ type: 'webhook.recovered', endpoint: endpoint.host, failures: job.failures });
      return tell('delivered');
    }
    await outbox.failed(job, { now, error: sent.error, isGone: sent.isGone, ...waitsOf(job, sent, now) });
    if (job.failures === 0 || sent.isGone)
      observe({ type: 'webhook.failing', endpoint: endpoint.host, error: sent.error });
    tell('failed');
  }
}

function waitsOf({ attempts, failures }: Job, { retryAfter }: Sent & { delivered: false }, now: number) {
  return {
    again: now + waitAfter(attempts, retryAfter, Math.random()),
    pausedUntil: now + pauseAfter(failures + 1, retryAfter, Math.random()),
  };
}
