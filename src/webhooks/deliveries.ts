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

export function createDeliveries({
  outbox,
  settings,
  clock,
  observe,
  endpoints,
}: DeliveriesOptions) {
  let isClosed = false;
  const cut = new AbortController();

  const sleeps = endpoints.map(() => new WakeableSleep());
  const running = Promise.all(
    endpoints.map((endpoint, i) => serve(endpoint, sleeps[i]!)),
  );

  function wake() {
    for (const sleep of sleeps) sleep.wake();
  }

  async function serve(endpoint: Endpoint, sleep: WakeableSleep) {
    while (!isClosed) {
      if (!(await deliverNext(endpoint))) await sleep.sleep(POLL_INTERVAL);
    }
  }

  async function deliverNext(endpoint: Endpoint) {
    try {
      const job = await outbox.take(endpoint.id, clock());
      if (job === null) return false;
      await deliver(endpoint, job);
      return true;
    } catch (error) {
      // The state reports its outages itself; a taken event is due again after its lease.
      if (!(error instanceof Outage))
        observe({ type: 'bug', id: 'webhooks', error });
      return false;
    }
  }

  async function deliver(endpoint: Endpoint, job: Job) {
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
    const { signal } = cut;
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

  return {
    wake,
    /** An event without a response is sent again after its lease. */
    async close() {
      isClosed = true;
      wake();
      const timer = setTimeout(() => cut.abort(), CLOSE_TIMEOUT);
      await running;
      clearTimeout(timer);
    },
  };
}
