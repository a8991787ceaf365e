import type { Config } from '../config/config.ts';
import type { Event, Observe } from '../observe/events.ts';
import type { WebhookGauges } from '../observe/metric-rows.ts';
import type { Outbox } from '../records/outbox.ts';
import type { Records, Storage } from '../records/storage.ts';
import { StateFileError } from '../state/embedded/file.ts';
import type { WebhookAdmin } from '../webhooks/admin.ts';
import type { Detection } from '../webhooks/detector.ts';
import { hasEndpoints } from '../webhooks/endpoints.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';

/** The state must open first. */
const MOST_EARLY = 100;

interface WebhookParts {
  readonly config: Config;
  readonly gateway: string;
  readonly records: Pick<Records, 'keys' | 'auditLog'>;
  readonly outbox: Storage['outbox'];
  readonly clock: () => number;
}

/** Without endpoints, nothing is loaded and no event is read. */
export function createGatewayWebhooks({
  webhooks: settings,
}: Pick<Config, 'webhooks'>) {
  const isOn = hasEndpoints(settings);
  const early: Event[] = [];
  let webhooks: Webhooks | null = null;
  let opened: readonly Outbox[] = [];
  const figure = (name: 'waiting' | 'oldest' | 'failing') => () =>
    webhooks?.backlog[name] ?? 0;
  const gauges: WebhookGauges = {
    webhooksWaiting: figure('waiting'),
    webhooksOldest: figure('oldest'),
    webhooksFailing: figure('failing'),
  };

  return {
    listeners: isOn ? [observe] : [],
    gauges: isOn ? gauges : {},
    outbox: async (): Promise<Outbox> => opened[0]!,
    receive(detection: Detection, worker: number): void {
      webhooks?.onDetection(detection, worker);
    },
    /** Throws StateFileError. */
    async open(
      { config, gateway, records, outbox, clock }: WebhookParts,
      observe: Observe,
    ): Promise<void> {
      if (!isOn) return;
      const { createWebhooks } = await import('../webhooks/webhooks.ts');
      const shared = await outbox();
      opened = [shared];
      const apart =
        config.redis === null ? null : await apartIn(config.data, observe);
      if (apart !== null) opened = [shared, apart];
      const { keys, auditLog } = records;
      webhooks = createWebhooks({
        settings,
        gateway,
        outbox: shared,
        localOutbox: apart,
        keys,
        auditLog,
        clock,
        observe,
      });
      webhooks.begin();
      for (const event of early.splice(0)) webhooks.observe(event);
    },
    /** Call before the state is closed. */
    async close(): Promise<void> {
      await webhooks?.close();
      for (const outbox of opened) outbox.close();
      opened = [];
    },
  };

  function observe(event: Event): void {
    if (webhooks !== null) webhooks.observe(event);
    else if (event.type !== 'request' && early.length < MOST_EARLY)
      early.push(event);
  }
}

export function webhookAdminOf({
  config,
  gateway,
  outbox,
  clock,
}: Omit<WebhookParts, 'records'>) {
  return async (): Promise<WebhookAdmin> => {
    const { createWebhookAdmin } = await import('../webhooks/admin.ts');
    return createWebhookAdmin({
      settings: config.webhooks,
      gateway,
      outbox,
      clock,
    });
  };
}

/** While Redis is down; in memory if the data folder is unusable. */
async function apartIn(folder: string, observe: Observe): Promise<Outbox> {
  const { openOutbox } = await import('../records/embedded/outbox.ts');
  try {
    return openOutbox(folder);
  } catch (error) {
    if (!(error instanceof StateFileError)) throw error;
    observe({
      type: 'state.warning',
      warning: `events are not stored while Redis is down: ${error.message}`,
    });
    return openOutbox(null);
  }
}
