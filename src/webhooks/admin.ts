import { randomUUID } from 'node:crypto';
import { unlessOutage } from '../common/errors/outage.ts';
import type { WebhookSettings } from '../config/config.ts';
import type { Outbox } from '../records/outbox.ts';
import { type EndpointState, resume, stateOf } from './cursors.ts';
import { type Endpoint, endpointsOf } from './endpoints.ts';
import { messageOf, uniqueEvent, WEBHOOK_TYPES } from './event.ts';
import { send } from './send.ts';

export interface EndpointView {
  readonly id: string;
  readonly host: string;
  readonly events: readonly string[];
  readonly state: EndpointState;
}

export type WebhookAdmin = ReturnType<typeof createWebhookAdmin>;

interface WebhookAdminOptions {
  readonly settings: WebhookSettings;
  readonly gateway: string;
  readonly outbox: () => Promise<Outbox>;
  readonly clock: () => number;
}

export function createWebhookAdmin({
  settings,
  gateway,
  outbox,
  clock,
}: WebhookAdminOptions) {
  const endpoints = endpointsOf(settings);

  async function testOne({ id, host, url }: Endpoint, by: string) {
    const began = performance.now();
    const now = clock();
    const message = messageOf(
      uniqueEvent('test', now, randomUUID(), now, { gateway, by }),
    );
    const { signal } = new AbortController();
    const sent = await send({ url, message, settings, now, signal });
    const { delivered, status } = sent;
    // Pending events are sent at once. An outage of the state does not affect the test.
    if (delivered)
      await unlessOutage(
        async () => resume(await outbox(), id, clock()),
        undefined,
      );
    const duration = Math.round(performance.now() - began);
    return {
      id,
      host,
      delivered,
      status,
      error: sent.delivered ? null : sent.error,
      duration,
    };
  }

  return {
    ids: endpoints.map(({ id }) => id),
    async list(): Promise<readonly EndpointView[]> {
      if (endpoints.length === 0) return [];
      const opened = await outbox();
      return await Promise.all(
        endpoints.map(async (endpoint) => ({
          id: endpoint.id,
          host: endpoint.host,
          events: WEBHOOK_TYPES.filter(endpoint.wants),
          state: await stateOf(opened, endpoint, clock()),
        })),
      );
    },
    /** `id` `null`: all endpoints. Returns `null` for an unknown id. */
    async test(by: string, id: string | null) {
      const chosen = endpoints.filter((one) => id === null || one.id === id);
      return chosen.length === 0
        ? null
        : await Promise.all(chosen.map((one) => testOne(one, by)));
    },
  };
}
