import type { WebhookEndpoint, Webhooks, WebhookTest, WebhookTests } from '@storegate/console';
import { Command } from 'commander';
import { type Common, changingCommand, idempotencyOption, operatorCommand, perform } from '../command.ts';
import { table, textOf } from '../table.ts';
import type { Terminal } from '../terminal.ts';

const COLUMNS = ['id', 'host', 'status', 'pending', 'dropped', 'delivered', 'failing since', 'error'] as const;
const TESTED = ['id', 'host', 'result', 'status', 'ms', 'error'] as const;

export function webhooksCommand(terminal: Terminal): Command {
  const webhooks = new Command('webhooks').description('receivers of events: how they stand, and a test');
  operatorCommand(
    webhooks
      .command('list', { isDefault: true })
      .description('list the receivers of the settings, what waits for each, and since when one fails'),
    'webhooks list',
  ).action((options: Common) =>
    perform(terminal, options, async (api) => (await api.call<Webhooks>('GET', '/webhooks')).endpoints, showEndpoints),
  );
  operatorCommand(
    webhooks.command('schema').description('print the JSON Schema of all events'),
    'webhooks schema --json',
  ).action((options: Common) =>
    perform(
      terminal,
      options,
      (api) => api.call('GET', '/webhooks/schema'),
      (schema) => `${JSON.stringify(schema, null, 2)}\n`,
    ),
  );
  const test = webhooks
    .command('test')
    .description(
      'send a test event to all receivers and tell what they answer; one that takes it gets what waits for it',
    )
    .option('--endpoint <id>', 'only to this one, by its id in the list');
  changingCommand(idempotencyOption(test), 'webhooks test', 'webhooks test --endpoint 5f1c22a09b3e').action(
    async ({
      endpoint,
      idempotencyKey,
      ...options
    }: Common & { readonly endpoint?: string; readonly idempotencyKey?: string }) => {
      const { CallError } = await import('../connect/api.ts');
      let failed = 0;
      await perform(
        terminal,
        options,
        async (api) => {
          const body = endpoint === undefined ? {} : { endpoint };
          const { tests } = await api.call<WebhookTests>('POST', '/webhooks/test', { body, idempotencyKey });
          failed = tests.filter(({ delivered }) => !delivered).length;
          return tests;
        },
        (tests, colour) => table(TESTED, tests.map(testRow), colour),
      );
      if (failed > 0)
        throw new CallError(`${failed} ${failed === 1 ? 'receiver' : 'receivers'} did not take the event`);
    },
  );
  return webhooks;
}

function showEndpoints(endpoints: readonly WebhookEndpoint[], colour: boolean): string {
  if (endpoints.length === 0) return 'No receiver: set webhooks.url or STOREGATE_WEBHOOK_URL, and a secret.\n';
  const rows = endpoints.map(({ failingSince, ...rest }) => ({ ...rest, 'failing since': failingSince }));
  const events = endpoints.map(({ id, events }) => `${id} gets ${textOf(events)}.\n`);
  return table(COLUMNS, rows, colour) + events.join('');
}

function testRow({ id, host, delivered, status, duration, error }: WebhookTest) {
  return { id, host, result: delivered ? 'taken' : 'not taken', status, ms: duration, error };
}
