import { createCoalescedWork } from '../common/coalesced-work.ts';
import { createDelayedRun } from '../common/delayed-run.ts';
import { Outage } from '../common/errors/outage.ts';
import { HOUR, SECOND } from '../common/time.ts';
import { createWriteBehind } from '../common/write-behind.ts';
import type { WebhookSettings } from '../config/config.ts';
import type { Event, Observe } from '../observe/events.ts';
import type { KeyRecord } from '../records/keys/key.ts';
import type { KeyStore } from '../records/keys/store.ts';
import type { AuditLog } from '../records/operators/audit-log.ts';
import type { Outbox } from '../records/outbox.ts';
import { readAuditTrail } from './audit-trail.ts';
import { type EndpointState, stateOf } from './cursors.ts';
import { createDeliveries } from './deliveries.ts';
import { createDetector, type Detection } from './detector.ts';
import { endpointsOf } from './endpoints.ts';
import { type Data, messageOf, type WebhookEvent } from './event.ts';
import { notifyExpiring } from './expiry-notices.ts';
import { createIncidents } from './incidents.ts';

/** About 10 MB. */
const MAX_QUEUE = 10_000;
/** An embedded outbox writes on this thread. */
const BATCH_SIZE = 10;
const CHECK_INTERVAL = 2 * SECOND;
const CHANGE_DELAY = 0.1 * SECOND;
const RETRY_DELAY = SECOND;
/** Other gateways may detect the same event later. */
const DEDUPLICATION_TIME = HOUR;

interface WebhooksOptions {
  readonly settings: WebhookSettings;
  readonly gateway: string;
  /** Closed by its owner. */
  readonly outbox: Outbox;
  /** Used while the shared outbox is down; `null`: they are the same. Closed by its owner. */
  readonly localOutbox: Outbox | null;
  readonly keys: Pick<KeyStore, 'get' | 'readExpiring' | 'watch'>;
  readonly auditLog: Pick<AuditLog, 'list'>;
  /** Unix milliseconds. */
  readonly clock: () => number;
  /** For tests: monotonic milliseconds. */
  readonly monotonic?: () => number;
  readonly observe: Observe;
}

/** One per gateway. */
export function createWebhooks({
  settings,
  gateway,
  outbox,
  localOutbox,
  clock,
  monotonic,
  observe,
  auditLog,
  keys,
}: WebhooksOptions) {
  const checks = createCoalescedWork(look);
  const soon = createDelayedRun(() => void checks.next(), CHANGE_DELAY);
  let isClosed = false;
  /** On the clock of `performance.now()`. */
  let trustAt = 0;
  let backlog = { waiting: 0, oldest: 0, failing: 0 };

  const since = clock();
  const endpoints = endpointsOf(settings);
  const incidents = createIncidents(gateway, monotonic);
  const detect = createDetector({
    quota: settings.minQuotaWindow,
    gateway,
    clock,
    onDetection: (detection) => onDetection(detection, null),
  });
  const senders = [outbox, ...(localOutbox === null ? [] : [localOutbox])].map(
    (from) =>
      createDeliveries({
        endpoints,
        outbox: from,
        settings,
        clock,
        observe,
      }),
  );
  const queue = createWriteBehind<WebhookEvent>({
    write: isWritten,
    maxItems: MAX_QUEUE,
    batchSize: BATCH_SIZE,
    pause: 0,
    onDropped: (count) =>
      observe({
        type: 'webhook.delivery',
        endpoint: 'none',
        event: 'any',
        result: 'dropped',
        count,
      }),
  });
  const timer = setInterval(check, CHECK_INTERVAL).unref();
  const stopWatching = keys.watch(() => soon.plan());

  /** `process`: the worker, or `null` for this process. */
  function onDetection(detection: Detection, process: number | null) {
    const found =
      'sight' in detection ? incidents.see(detection, process) : detection;
    if (found !== null) queue.add(found);
  }

  function check() {
    for (const found of incidents.settle()) queue.add(found);
    void checks.next();
  }

  async function isWritten(found: WebhookEvent) {
    try {
      await writeDown(found);
    } catch (error) {
      if (error instanceof Outage) return false;
      observe({ type: 'bug', id: 'webhooks', error });
    }
    return true;
  }

  /** Falls back to the local outbox. Throws Outage if that fails too. */
  async function writeDown(found: WebhookEvent) {
    if (
      localOutbox === null ||
      (found.apart === undefined && performance.now() >= trustAt)
    ) {
      try {
        return await addTo(outbox, found);
      } catch (error) {
        if (localOutbox === null || !(error instanceof Outage)) throw error;
        trustAt = performance.now() + RETRY_DELAY;
      }
    }
    await addTo(localOutbox ?? outbox, found);
  }

  async function addTo(outbox: Outbox, found: WebhookEvent) {
    const subscribed = endpoints.filter(({ wants }) => wants(found.type));
    if (subscribed.length === 0) return;
    const message = messageOf({
      ...found,
      data: await whole(found.data),
    });
    const { since, until, ...once } = found.once;
    const began = clock();
    const now = await outbox.time(began);
    // The clock of this gateway only shows its difference to the shared clock.
    const later = now - began;
    const isNew = await outbox.add({
      message,
      endpoints: subscribed.map(({ id }) => id),
      once: {
        ...once,
        since: since === 0 ? 0 : since + later,
        until: Math.max(until + later, now + DEDUPLICATION_TIME),
      },
      most: settings.maxPending,
      now,
    });
    if (!isNew) return;
    for (const deliveries of senders) deliveries.wake();
  }

  async function whole(data: Data): Promise<Data> {
    if (typeof data.key !== 'string' || data.account !== undefined) return data;
    const record = await recordOf(data.key);
    return {
      ...data,
      key: data.key,
      account: record?.account ?? null,
      plan: data.plan ?? record?.plan ?? null,
    };
  }

  /**
   * One late response is not an outage, so the key is read twice. During an outage the event has no
   * account.
   */
  async function recordOf(
    id: string,
    isLast = performance.now() < trustAt,
  ): Promise<KeyRecord | null> {
    try {
      return await keys.get(id);
    } catch (error) {
      if (!(error instanceof Outage)) throw error;
      return isLast ? null : await recordOf(id, true);
    }
  }

  async function look() {
    if (isClosed) return;
    const add = (found: WebhookEvent) => addTo(outbox, found);
    try {
      await readAuditTrail(auditLog, outbox, since, add);
      await notifyExpiring(
        keys,
        outbox,
        { ahead: settings.keyExpiryNotice, now: clock() },
        add,
      );
      const now = clock();
      const states = endpoints.map((each) => stateOf(outbox, each, now));
      backlog = backlogOf(await Promise.all(states), now);
    } catch (error) {
      if (!(error instanceof Outage))
        observe({ type: 'bug', id: 'webhooks', error });
    }
  }

  return {
    get backlog() {
      return backlog;
    },
    observe(event: Event) {
      detect(event);
      if (event.type === 'worker.ended')
        incidents.forget(event.worker, clock());
    },
    begin: () => void checks.next(),
    onDetection,
    async close() {
      isClosed = true;
      clearInterval(timer);
      stopWatching();
      soon.close();
      await queue.close();
      await checks.idle();
      await Promise.all(senders.map((deliveries) => deliveries.close()));
    },
  };
}

export type Webhooks = ReturnType<typeof createWebhooks>;

function backlogOf(states: readonly EndpointState[], now: number) {
  const longest = (since: 'oldest' | 'failingSince') =>
    Math.max(0, ...states.map((state) => now - (state[since] ?? now))) / 1_000;
  return {
    waiting: states.reduce((sum, { waiting }) => sum + waiting, 0),
    oldest: longest('oldest'),
    failing: longest('failingSince'),
  };
}
