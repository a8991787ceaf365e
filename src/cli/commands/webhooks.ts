import type { WebhookEndpoint, WebhookTest } from '@storegate/console';
import { plural } from '@storegate/console/words';
import type { Command } from 'commander';
import { addCall, addCommand, type Options, option } from '../command.ts';
import { listView, safeText } from '../output.ts';
import type { Terminal } from '../terminal.ts';

const COLUMNS = ['id', 'host', 'status', 'pending', 'dropped', 'delivered', 'failing since', 'error'] as const;

export function addWebhooks(program: Command, terminal: Terminal): void {
  const webhooks = addCommand(program, 'webhooks', {
    about: 'list and test webhook endpoints',
    examples: ['webhooks test'],
  });
  addCall(terminal, webhooks, 'list', {
    about: 'list webhook endpoints, with pending and failed events',
    isDefault: true,
    examples: ['webhooks list'],
    ask: async (api) => (await api.call('GET', '/webhooks')).endpoints,
    view: {
      text: (endpoints, page) =>
        page.table(COLUMNS, endpoints.map(rowOf), 'No webhook endpoints. Set webhooks.url or STOREGATE_WEBHOOK_URL.') +
        page.notes(...endpoints.map(({ id, events }) => `${id} receives ${safeText(events)}.`)),
      names: (endpoints) => endpoints.map(({ id }) => id),
    },
  });
  addCall(terminal, webhooks, 'schema', {
    about: 'print the JSON Schema of all events',
    examples: ['webhooks schema > events.json'],
    ask: (api) => api.call('GET', '/webhooks/schema'),
    view: { text: (schema) => `${JSON.stringify(schema, null, 2)}\n` },
  });
  addCall(terminal, webhooks, 'test', {
    about: 'send a test event to all endpoints; a success also sends pending events',
    options: [option('--endpoint <id>', 'only to this endpoint')],
    changes: true,
    idempotent: true,
    examples: ['webhooks test --endpoint 5f1c22a09b3e'],
    ask: async (api, { endpoint, idempotencyKey }: Options & { endpoint?: string }) => {
      return (await api.call('POST', '/webhooks/test', { body: { endpoint }, idempotencyKey })).tests;
    },
    view: listView(
      ['id', 'host', 'result', 'status', 'ms', 'error'],
      'No webhook endpoints.',
      ({ id }) => id,
      ({ delivered, duration, ...test }: WebhookTest) => ({
        ...test,
        result: delivered ? 'delivered' : 'failed',
        ms: duration,
      }),
    ),
    failure(tests) {
      const failed = tests.filter(({ delivered }) => !delivered).length;
      return failed === 0 ? null : `Delivery to ${plural(failed, 'endpoint')} failed.`;
    },
  });
}

function rowOf({ failingSince, ...rest }: WebhookEndpoint) {
  return { ...rest, 'failing since': failingSince };
}
