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
      if (!(await deliverNext(endpoint, sleep)))
        await sleep.sleep(POLL_INTERVAL);
    }
  }

  async function deliverNext(endpoint: Endpoint, sleep: WakeableSleep) {
    try {
      const { retryFor } = settings;
      const taken = await takeNext(outbox, endpoint, retryFor, clock());
      const { event, failures, lost } = taken;
      if (lost > 0) report(endpoint.host, 'any', 'dropped', lost);
      if (event !== null) await deliver(endpoint, event, failures, sleep);
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
    sleep: WakeableSleep,
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
    const result = isCut ? null : sent;
    while (!(await isSettled(id, event, result)))
      await sleep.sleep(POLL_INTERVAL);
    if (isCut) return;
    if (!sent.delivered && (failures === 0 || sent.isGone))
      observe({ type: 'webhook.failing', endpoint: host, error: sent.error });
    if (sent.delivered && failures > 0)
      observe({ type: 'webhook.recovered', endpoint: host, failures });
    report(host, event.type, sent.delivered ? 'delivered' : 'failed');
  }

  /** An outage in between would keep the endpoint until the end of its lease. */
  async function isSettled(
    endpoint: string,
    event: StoredEvent,
    result: Parameters<typeof settle>[3],
  ) {
    try {
      await settle(outbox, endpoint, event, result, clock());
      return true;
    } catch (error) {
      if (isClosed || !(error instanceof Outage)) throw error;
      return false;
    }
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
