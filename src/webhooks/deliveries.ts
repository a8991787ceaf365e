import { Outage } from '../common/errors/outage.ts';
import {
  createWakeableSleep,
  type WakeableSleep,
} from '../common/wakeable-sleep.ts';
import type { WebhookSettings } from '../config/config.ts';
import type { Observe } from '../observe/events.ts';
import type { Outbox, StoredEvent } from '../records/outbox.ts';
import { settle, takeNext } from './cursors.ts';
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

  const sleeps = endpoints.map(() => createWakeableSleep());
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
      const { retryFor } = settings;
      const taken = await takeNext(outbox, endpoint, retryFor, clock());
      const { event, failures, lost } = taken;
      if (lost > 0) report(endpoint.host, 'any', 'dropped', lost);
      if (event !== null) await deliver(endpoint, event, failures);
      return event !== null || lost > 0;
    } catch (error) {
      // The state reports its outages itself; a taken event is due again after its lease.
      if (!(error instanceof Outage))
        observe({ type: 'bug', id: 'webhooks', error });
      return false;
    }
  }

  async function deliver(
    { id, host, url }: Endpoint,
    event: StoredEvent,
    failures: number,
  ) {
    const { signal } = cut;
    const sent = await send({
      url,
      message: event,
      settings,
      now: clock(),
      signal,
    });
    const isCut = signal.aborted && !sent.delivered;
    await settle(outbox, id, event, isCut ? null : sent, clock());
    if (isCut) return;
    if (!sent.delivered && (failures === 0 || sent.isGone))
      observe({ type: 'webhook.failing', endpoint: host, error: sent.error });
    if (sent.delivered && failures > 0)
      observe({ type: 'webhook.recovered', endpoint: host, failures });
    report(host, event.type, sent.delivered ? 'delivered' : 'failed');
  }

  function report(
    endpoint: string,
    event: string,
    result: 'delivered' | 'failed' | 'dropped',
    count = 1,
  ) {
    observe({ type: 'webhook.delivery', endpoint, event, result, count });
  }

  return {
    wake,
    /** An event without a response is sent again. */
    async close() {
      isClosed = true;
      wake();
      const timer = setTimeout(() => cut.abort(), CLOSE_TIMEOUT);
      await running;
      clearTimeout(timer);
    },
  };
}
