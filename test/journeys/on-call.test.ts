import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { commandLine } from '../support/command-line.ts';
import { TestGateway } from '../support/gateway.ts';
import { until } from '../support/until.ts';

const PLANS = `
plans:
  free: { windows: [{ limit: 2, per: minute }, { limit: 100, per: day }] }
bans: { strikes: 2, workers: 1, window: 1m, durations: [1h], decay: 1d }
`;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await TestGateway.start({ plans: PLANS });
});
afterAll(() => gateway.stop());

async function run(...args: readonly string[]): Promise<string> {
  const { code, out, err } = await commandLine(gateway.folder)(args, {
    env: { STOREGATE_ADMIN_URL: gateway.adminUrl },
  });
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return out;
}

test('a complaint is traced to its cause, fixed, and the fix verified, by commands only', async () => {
  const { secret, id } = await gateway.key({ account: 'acme' });
  const get = () => gateway.client.get('/pets').set('X-API-Key', secret);
  for (let i = 0; i < 3; i++) await get();
  gateway.clock.now += 200;
  await get();
  const complaint = await get();
  expect(complaint.status).toBe(403);

  const request = complaint.headers['x-request-id'] as string;
  expect(await run('explain', request)).toMatch(
    /\nadmit +REFUSED: banned until .*the ban began with this request/,
  );

  expect(await run('top', '--by', 'refused')).toContain(id);
  expect((await run('bans', 'list')).match(/key_/g)).toHaveLength(1);

  await until('the ban is in its log', async () =>
    (await run('bans', 'history', id)).includes(' banned '),
  );
  const begun = JSON.parse(await run('bans', 'history', id, '--json')) as {
    action: string;
    requestId: string;
    after: object;
  }[];
  expect(begun).toMatchObject([
    { action: 'bans.start', requestId: request, after: { limit: '2/minute' } },
  ]);

  expect(await run('usage', 'report', '--by', 'code')).toMatch(/\nkey_banned /);

  await run('bans', 'lift', id);
  expect((await get()).status).toBe(200);

  expect(await run('bans', 'history', id)).toMatch(/ lifted /);
  const [lifted] = JSON.parse(await run('audit', 'list', '--target', id, '--json')) as {
    action: string;
    actor: string;
  }[];
  expect(lifted).toMatchObject({ action: 'bans.lift' });
  expect(lifted!.actor).not.toBe('storegate');
});
