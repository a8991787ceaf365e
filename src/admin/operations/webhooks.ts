import { readFileSync } from 'node:fs';
import type { WebhookEndpoint } from '@storegate/admin-api';
import { WEBHOOK_SCHEMA } from '@storegate/admin-api/files';
import type { EndpointView } from '../../webhooks/admin.ts';
import type { EndpointState } from '../../webhooks/cursors.ts';
import { AdminError } from '../admin-error.ts';
import type { AdminOperations } from '../call.ts';
import type { Change } from '../change.ts';
import type { AdminContext } from '../context.ts';
import { unknownName } from '../filters.ts';
import { time } from '../view.ts';

const TEST = { action: 'webhooks.test', target: 'webhooks' } as const;

export function webhookOperations(context: AdminContext, change: Change) {
  return {
    listWebhooks: async ({ now }) => {
      const webhooks = await context.webhooks();
      return {
        endpoints: (await webhooks.list()).map((endpoint) =>
          shown(endpoint, now),
        ),
      };
    },
    getWebhookSchema: async () =>
      JSON.parse(readFileSync(WEBHOOK_SCHEMA, 'utf8')),
    testWebhooks: (task) =>
      change(task, TEST.target, async ({ make }) => {
        const { endpoint = null } = task.body;
        const webhooks = await context.webhooks();
        const tests = await webhooks.test(task.actor, endpoint);
        if (tests === null) {
          if (endpoint !== null)
            throw unknownName('endpoint', endpoint, webhooks.ids);
          const none =
            'No webhook endpoint is set: webhooks.url or STOREGATE_WEBHOOK_URL.';
          throw new AdminError('not_found', none);
        }
        // It changes nothing, so the entry can include the result.
        const results = tests.map(({ id, host, delivered, status }) => ({
          id,
          host,
          delivered,
          status,
        }));
        const after = { results };
        const entry = { ...TEST, before: null, after };
        return await make([{ entry, make: async () => {} }], { tests });
      }),
  } satisfies Partial<AdminOperations>;
}

function shown({ id, host, events, state }: EndpointView, now: number) {
  const {
    waiting,
    oldest,
    failingSince,
    failures,
    error,
    deliveredAt,
    pausedUntil,
    isGone,
    lost,
  } = state;
  return {
    id,
    host,
    events,
    status: statusOf(state),
    pending: waiting,
    oldestPending: time(oldest),
    failingSince: time(failingSince),
    failures,
    error,
    delivered: time(deliveredAt),
    pausedUntil: isGone || pausedUntil <= now ? null : time(pausedUntil),
    dropped: lost,
  };
}

function statusOf({
  isGone,
  failures,
  deliveredAt,
}: EndpointState): WebhookEndpoint['status'] {
  if (isGone) return 'disabled';
  if (failures > 0) return 'failing';
  return deliveredAt === null ? 'new' : 'ok';
}
