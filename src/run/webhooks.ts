import type { Config } from '../config/config.ts';
import type { Event, Observe } from '../observe/events.ts';
import type { WebhookGauges } from '../observe/metric-rows.ts';
import type { Outbox } from '../records/outbox.ts';
import type { Records, Storage } from '../records/storage.ts';
import { StateFileError } from '../state/embedded/file.ts';
import type { WebhookAdmin } from '../webhooks/admin.ts';
import type { Detection } from '../webhooks/detector.ts';
import { hasReceivers } from '../webhooks/endpoints.ts';
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
export class GatewayWebhooks {
  readonly listeners: readonly Observe[];
  readonly gauges: Partial<WebhookGauges>;
  readonly #isOn: boolean;
  #early: Event[] = [];
  #webhooks: Webhooks | null = null;
  #opened: readonly Outbox[] = [];

  constructor({ webhooks }: Pick<Config, 'webhooks'>) {
    this.#isOn = hasReceivers(webhooks);
    this.listeners = this.#isOn ? [(event) => this.#observe(event)] : [];
    const figure = (name: 'waiting' | 'oldest' | 'failing') => () =>
      this.#webhooks?.backlog[name] ?? 0;
    this.gauges = this.#isOn
      ? {
          webhooksWaiting: figure('waiting'),
          webhooksOldest: figure('oldest'),
          webhooksFailing: figure('failing'),
        }
      : {};
  }

  /** Throws StateFileError. */
  async open(
    { config, gateway, records, outbox, clock }: WebhookParts,
    observe: Observe,
  ): Promise<void> {
    if (!this.#isOn) return;
    const { createWebhooks } = await import('../webhooks/webhooks.ts');
    const shared = await outbox();
    this.#opened = [shared];
    const apart =
      config.redis === null ? null : await apartIn(config.data, observe);
    if (apart !== null) this.#opened = [shared, apart];
    const { keys, auditLog } = records;
    const settings = config.webhooks;
    this.#webhooks = createWebhooks({
      settings,
      gateway,
      outbox: shared,
      localOutbox: apart,
      keys,
      auditLog,
      clock,
      observe,
    });
    await this.#webhooks.begin();
    for (const event of this.#early.splice(0)) this.#webhooks.observe(event);
  }

  readonly outbox = async (): Promise<Outbox> => this.#opened[0]!;

  readonly hear = (detection: Detection, worker: number): void => {
    this.#webhooks?.onDetection(detection, worker);
  };

  /** Call before the state is closed. */
  async close(): Promise<void> {
    await this.#webhooks?.close();
    for (const outbox of this.#opened) outbox.close();
    this.#opened = [];
  }

  #observe(event: Event): void {
    if (this.#webhooks !== null) this.#webhooks.observe(event);
    else if (event.type !== 'request' && this.#early.length < MOST_EARLY)
      this.#early.push(event);
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
