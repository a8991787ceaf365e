import { afterAll, afterEach, describe, expect, test } from '@jest/globals';
import { commandLine } from '../support/command-line.ts';
import { TestGateway } from '../support/gateway.ts';
import { Receiver } from '../support/receiver.ts';

const receiver = await Receiver.start();
const gateway = await TestGateway.start({ env: receiver.env });
const { answer } = receiver;
afterEach(() => {
  expect(receiver.faults).toEqual([]);
  receiver.attempts.length = 0;
  receiver.answer = answer;
});
afterAll(async () => {
  await gateway.stop();
  await receiver.stop();
});

const run = (env: Record<string, string>, ...args: string[]) =>
  commandLine(gateway.folder)(['webhooks', ...args], { env });
const remote = () => ({ STOREGATE_ADMIN_URL: gateway.adminUrl });

describe('storegate webhooks', () => {
  test('test delivers an event, and list shows the endpoints', async () => {
    const tested = await run(remote(), 'test');
    expect(tested).toMatchObject({ code: 0, err: '' });
    expect(tested.out).toMatch(
      /^id +host +result +status +ms +error\n[0-9a-f]{12} +127\.0\.0\.1:\d+ +delivered +204 +\d+ +-\n$/,
    );
    expect(receiver.takenOf('test')[0]!.data).toMatchObject({ by: 'local' });
    const listed = await run(remote(), '--absolute');
    expect((await run(remote(), 'list', '--absolute')).out).toBe(listed.out);
    expect(listed.out).toMatch(
      /^id +host +status +pending +dropped +delivered +failing since +error\n/,
    );
    expect(listed.out).toContain('  ok  ');
    expect(listed.out).toContain('receives ban.started, quota.reached, ');
    expect(tested.out + listed.out).not.toContain('s3cr3t-path');
  });

  test('test exits with 1 if a delivery failed', async () => {
    receiver.answer = () => ({ status: 403 });
    const { code, out, err } = await run(remote(), 'test', '--json');
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject([{ delivered: false, status: 403, error: 'HTTP 403' }]);
    expect(err).toContain('Delivery to 1 endpoint failed.');
    expect(await run(remote(), 'test', '--endpoint', 'other')).toMatchObject({ code: 2, out: '' });
  });

  test('calls the gateway of the folder, with its own endpoints', async () => {
    const beside = { STOREGATE_CONFIG: 'gateway.yaml' };
    expect(await run(beside, 'test')).toMatchObject({
      code: 0,
      out: expect.stringContaining('delivered'),
      err: '',
    });
    expect((await run(beside, 'list', '--absolute')).out).toBe(
      (await run(remote(), 'list', '--absolute')).out,
    );
    expect(receiver.takenOf('test')).toHaveLength(1);
  });

  test('works without a gateway', async () => {
    const beside = { ...receiver.env, STOREGATE_CONFIG: 'gateway.yaml' };
    await gateway.close();
    expect(await run(beside, 'test')).toMatchObject({ code: 0, err: '' });
    expect((await run(beside, 'list')).out).toContain('  ok  ');
    expect(receiver.taken).toHaveLength(1);
    const none = await run({ STOREGATE_CONFIG: 'gateway.yaml' }, 'list');
    expect(none.out).toBe('No webhook endpoints. Set webhooks.url or STOREGATE_WEBHOOK_URL.\n');
    await gateway.open();
  });

  test('schema prints the JSON Schema of events', async () => {
    const { out } = await run(remote(), 'schema');
    expect(JSON.parse(out).definitions).toHaveProperty(['quota.reached']);
  });
});
