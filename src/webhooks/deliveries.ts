import { Outage } from '../common/errors/outage.ts';
import { WakeableSleep } from '../common/wakeable-sleep.ts';
import type { WebhookSettings } from '../config/config.ts';
import type { Observe } from '../observe/events.ts';
import type { Job, Outbox } from '../records/outbox.ts';
import { pauseAfter, waitAfter } from './backoff.ts';
import type { Endpoint } from './endpoints.ts';
import { send } from './send.ts';

/** Milliseconds. */
const POLL_INTERVAL = 1_000;
const CLOSE_TIMEOUT = 2_000;

interface DeliveriesOptions {
  readonly endpoints: readonly Endpoint[];
  readonly outbox: Outbox;
  readonly settings: Pick<
    WebhookSettings,
    'secret' | 'previousSecret' | 'timeout' | 'retryFor'
  >;
  readonly clock: () => number;
  readonly observe: Observe;
}

export class Deliveries {
  readonly #options: DeliveriesOptions;
  #isClosed = false;
  readonly #cut = new AbortController();
  readonly #running: Promise<unknown>;
  readonly #sleeps: WakeableSleep[];

  constructor(options: DeliveriesOptions) {
    this.#options = options;
    this.#sleeps = options.endpoints.map(() => new WakeableSleep());
    this.#running = Promise.all(
      options.endpoints.map((endpoint, i) =>
        this.#serve(endpoint, this.#sleeps[i]!),
      ),
    );
  }

  wake(): void {
    for (const sleep of this.#sleeps) sleep.wake();
  }

  /** An event without a response is sent again after its lease. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.wake();
    const timer = setTimeout(() => this.#cut.abort(), CLOSE_TIMEOUT);
    await this.#running;
    clearTimeout(timer);
  }

  async #serve(endpoint: Endpoint, sleep: WakeableSleep): Promise<void> {
    while (!this.#isClosed) {
      if (!(await this.#deliverNext(endpoint)))
        await sleep.sleep(POLL_INTERVAL);
    }
  }

  async #deliverNext(endpoint: Endpoint): Promise<boolean> {
    try {
      const job = await this.#options.outbox.take(
        endpoint.id,
        this.#options.clock(),
      );
      if (job === null) return false;
      await this.#deliver(endpoint, job);
      return true;
    } catch (error) {
      // The state reports its outages itself; a taken event is due again after its lease.
      if (!(error instanceof Outage))
        this.#options.observe({ type: 'bug', id: 'webhooks', error });
      return false;
    }
  }

  async #deliver(endpoint: Endpoint, job: Job): Promise<void> {
    const { outbox, settings, clock, observe } = this.#options;
    const report = (result: 'delivered' | 'failed' | 'dropped') =>
      observe({
        type: 'webhook.delivery',
        endpoint: endpoint.host,
        event: job.type,
        result,
        count: 1,
      });
    if (job.at + settings.retryFor <= clock()) {
      await outbox.giveUp(job, clock());
      return report('dropped');
    }
    const { signal } = this.#cut;
    const sent = await send({
      url: endpoint.url,
      message: job,
      settings,
      now: clock(),
      signal,
    });
    if (signal.aborted && !sent.delivered) return;
    const now = clock();
    if (sent.delivered) {
      await outbox.done(job, now);
      if (job.failures > 0)
        observe({
          type: 'webhook.recovered',
          endpoint: endpoint.host,
          failures: job.failures,
        });
      return report('delivered');
    }
    const { error, isGone, retryAfter } = sent;
    const again = now + waitAfter(job.attempts, retryAfter, Math.random());
    const pausedUntil =
      now + pauseAfter(job.failures + 1, retryAfter, Math.random());
    await outbox.failed(job, { now, error, isGone, again, pausedUntil });
    if (job.failures === 0 || isGone)
      observe({ type: 'webhook.failing', endpoint: endpoint.host, error });
    report('failed');
  }
}
