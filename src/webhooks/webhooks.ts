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
import { Deliveries } from './deliveries.ts';
import { createDetector, type Detection } from './detector.ts';
import { type Endpoint, endpointsOf } from './endpoints.ts';
import { type Data, messageOf, type WebhookEvent } from './event.ts';
import { notifyExpiring } from './expiry-notices.ts';
import { Incidents } from './incidents.ts';

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
export class Webhooks {
  readonly #options: WebhooksOptions;
  readonly #endpoints: readonly Endpoint[];
  readonly #incidents: Incidents;
  readonly #detect: Observe;
  readonly #deliveries: Deliveries[];
  readonly #timer: NodeJS.Timeout;
  readonly #stopWatching: () => void;
  readonly #checks = new CoalescedWork(() => this.#look());
  readonly #soon = new DelayedRun(() => void this.#checks.next(), CHANGE_DELAY);
  readonly #queue: WriteBehind<WebhookEvent>;
  #isClosed = false;
  /** Unix milliseconds. */
  readonly #since: number;
  /** On the clock of `performance.now()`. */
  #trustAt = 0;
  backlog = { waiting: 0, oldest: 0, failing: 0 };

  constructor(options: WebhooksOptions) {
    const {
      settings,
      gateway,
      outbox,
      localOutbox,
      clock,
      monotonic,
      observe,
    } = options;
    this.#options = options;
    this.#since = clock();
    this.#endpoints = endpointsOf(settings);
    this.#incidents = new Incidents(gateway, monotonic);
    this.#detect = createDetector({
      quota: settings.minQuotaWindow,
      gateway,
      clock,
      onDetection: (detection) => this.onDetection(detection, null),
    });
    this.#deliveries = [
      outbox,
      ...(localOutbox === null ? [] : [localOutbox]),
    ].map(
      (from) =>
        new Deliveries({
          endpoints: this.#endpoints,
          outbox: from,
          settings,
          clock,
          observe,
        }),
    );
    this.#queue = new WriteBehind({
      write: (found) => this.#isWritten(found),
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
    this.#timer = setInterval(() => this.#check(), CHECK_INTERVAL).unref();
    this.#stopWatching = options.keys.watch(() => this.#soon.plan());
  }

  async begin(): Promise<void> {
    const { auditLog, outbox } = this.#options;
    await unlessOutage(
      () => beginAuditTrail(auditLog, outbox, this.#since),
      undefined,
    );
    void this.#checks.next();
  }

  readonly observe = (event: Event): void => {
    this.#detect(event);
    if (event.type === 'worker.ended')
      this.#incidents.forget(event.worker, this.#options.clock());
  };

  /** `process`: the worker, or `null` for this process. */
  onDetection(detection: Detection, process: number | null): void {
    const found =
      'sight' in detection
        ? this.#incidents.see(detection, process)
        : detection;
    if (found !== null) this.#queue.add(found);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    this.#stopWatching();
    this.#soon.close();
    await this.#queue.close();
    await this.#checks.idle();
    await Promise.all(this.#deliveries.map((deliveries) => deliveries.close()));
  }

  #check(): void {
    for (const found of this.#incidents.settle()) this.#queue.add(found);
    void this.#checks.next();
  }

  async #isWritten(found: WebhookEvent): Promise<boolean> {
    try {
      await this.#writeDown(found);
    } catch (error) {
      if (error instanceof Outage) return false;
      this.#options.observe({ type: 'bug', id: 'webhooks', error });
    }
    return true;
  }

  /** Falls back to the local outbox. Throws Outage if that fails too. */
  async #writeDown(found: WebhookEvent): Promise<void> {
    const { outbox, localOutbox } = this.#options;
    if (
      localOutbox === null ||
      (found.apart === undefined && performance.now() >= this.#trustAt)
    ) {
      try {
        return await this.#addTo(outbox, found);
      } catch (error) {
        if (localOutbox === null || !(error instanceof Outage)) throw error;
        this.#trustAt = performance.now() + RETRY_DELAY;
      }
    }
    await this.#addTo(localOutbox ?? outbox, found);
  }

  async #addTo(outbox: Outbox, found: WebhookEvent): Promise<void> {
    const wanting = this.#endpoints.filter(({ wants }) => wants(found.type));
    if (wanting.length === 0) return;
    const message = messageOf({
      ...found,
      data: await this.#whole(found.data),
    });
    const { clock, settings, observe } = this.#options;
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
    for (const deliveries of this.#deliveries) deliveries.wake();
  }

  async #whole(data: Data): Promise<Data> {
    if (typeof data.key !== 'string' || data.account !== undefined) return data;
    const record = await this.#recordOf(data.key);
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
  async #recordOf(
    id: string,
    isLast = performance.now() < this.#trustAt,
  ): Promise<KeyRecord | null> {
    try {
      return await this.#options.keys.get(id);
    } catch (error) {
      if (!(error instanceof Outage)) throw error;
      return isLast ? null : await this.#recordOf(id, true);
    }
  }

  async #look(): Promise<void> {
    if (this.#isClosed) return;
    const { outbox, keys, auditLog, settings, clock, observe } = this.#options;
    const add = (found: WebhookEvent) => this.#addTo(outbox, found);
    try {
      await readAuditTrail(auditLog, outbox, this.#since, add);
      await notifyExpiring(
        keys,
        outbox,
        { ahead: settings.keyExpiryNotice, now: clock() },
        add,
      );
      this.backlog = backlogOf(
        await outbox.states(this.#endpoints.map(({ id }) => id)),
        clock(),
      );
    } catch (error) {
      if (!(error instanceof Outage))
        observe({ type: 'bug', id: 'webhooks', error });
    }
  }
}

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
