import { CoalescedWork } from '../common/coalesced-work.ts';
import { DelayedRun } from '../common/delayed-run.ts';
import { Outage, unlessOutage } from '../common/errors/outage.ts';
import { HOUR, SECOND } from '../common/time.ts';
import { WriteBehind } from '../common/write-behind.ts';
import type { WebhookSettings } from '../config/config.ts';
import type { Event, Observe } from '../observe/events.ts';
import type { KeyRecord } from '../records/keys/key.ts';
import type { KeyStore } from '../records/keys/store.ts';
import type { AuditLog } from '../records/operators/audit-log.ts';
import type { EndpointState, Outbox } from '../records/outbox.ts';
import { beginAuditTrail, readAuditTrail } from './audit-trail.ts';
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
  const checks = new CoalescedWork(look);
  const soon = new DelayedRun(() => void checks.next(), CHANGE_DELAY);
  let isClosed = false;
  /** On the clock of `performance.now()`. */
  let trustAt = 0;
  let backlog = { waiting: 0, oldest: 0, failing: 0 };

  const since = clock();
  const receivers = endpointsOf(settings);
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
        endpoints: receivers,
        outbox: from,
        settings,
        clock,
        observe,
      }),
  );
  const queue: WriteBehind<WebhookEvent> = new WriteBehind({
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
    const wanting = receivers.filter(({ wants }) => wants(found.type));
    if (wanting.length === 0) return;
    const message = messageOf({
      ...found,
      data: await whole(found.data),
    });
    const now = clock();
    const once = {
      ...found.once,
      until: Math.max(found.once.until, now + DEDUPLICATION_TIME),
    };
    const endpoints = wanting.map(({ id }) => id);
    const dropped = await outbox.add({
      message,
      endpoints,
      once,
      most: settings.maxPending,
      now,
    });
    if (dropped)
      observe({
        type: 'webhook.delivery',
        endpoint: 'any',
        event: 'any',
        result: 'dropped',
        count: dropped,
      });
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
      backlog = backlogOf(
        await outbox.states(receivers.map(({ id }) => id)),
        clock(),
      );
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
    async begin() {
      await unlessOutage(
        () => beginAuditTrail(auditLog, outbox, since),
        undefined,
      );
      void checks.next();
    },
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
  const since = (times: readonly (number | null)[]) =>
    Math.max(
      0,
      ...times
        .filter((time) => time !== null)
        .map((time) => (now - time) / 1_000),
    );
  return {
    waiting: states.reduce((sum, { waiting }) => sum + waiting, 0),
    oldest: since(states.map(({ oldest }) => oldest)),
    failing: since(states.map(({ failingSince }) => failingSince)),
  };
}
