import type { WebhookTest } from '@storegate/admin-api';
import { plural } from '@storegate/admin-api/text';
import { call, command, memberOf, operation, option } from '../command.ts';
import { CommandError } from '../connect/api.ts';
import { listView, safeText } from '../output.ts';

const COLUMNS = [
  'id',
  'host',
  'status',
  'pending',
  'dropped',
  'delivered',
  'failingSince',
  'error',
] as const;

export const webhookCommands = command(
  'webhooks',
  'list and test webhook endpoints',
  {
    examples: ['webhooks test'],
    commands: [
      call('list', 'list webhook endpoints, with pending and failed events', {
        isDefault: true,
        ...memberOf('listWebhooks', 'endpoints'),
        view: (endpoints, page) =>
          page.table(
            COLUMNS,
            endpoints,
            'No webhook endpoints. Set webhooks.url or STOREGATE_WEBHOOK_URL.',
          ) +
          page.notes(
            ...endpoints.map(
              ({ id, events }) => `${id} receives ${safeText(events)}.`,
            ),
          ),
      }),
      call('schema', 'print the JSON Schema of all events', {
        examples: ['webhooks schema > events.json'],
        ...operation('getWebhookSchema'),
        view: (schema) => `${JSON.stringify(schema, null, 2)}\n`,
      }),
      call(
        'test',
        'send a test event to all endpoints; a success also sends pending events',
        {
          options: [option('--endpoint <id>', 'only to this endpoint')],
          examples: ['webhooks test --endpoint 5f1c22a09b3e'],
          ...memberOf('testWebhooks', 'tests'),
          view: listView(
            ['id', 'host', 'result', 'status', 'ms', 'error'],
            'No webhook endpoints.',
            ({ delivered, duration, ...test }: WebhookTest) => ({
              ...test,
              result: delivered ? 'delivered' : 'failed',
              ms: duration,
            }),
          ),
          failure(tests) {
            const failed = tests.filter(({ delivered }) => !delivered).length;
            return failed === 0
              ? null
              : new CommandError(
                  `Delivery to ${plural(failed, 'endpoint')} failed.`,
                );
          },
        },
      ),
    ],
  },
);
