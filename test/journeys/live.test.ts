import { expect, test } from '@jest/globals';
import type { RefusedRequest } from '@storegate/admin-api';
import { adminOf } from '../support/admin.ts';
import { commandLine } from '../support/command-line.ts';
import { bodyOf } from '../support/failure.ts';
import { gatewaysOfTests } from '../support/gateways.ts';
import { storegate } from '../support/storegate.ts';
import { until } from '../support/until.ts';
import { fakeBackend } from '../support/upstream.ts';

const PLANS = 'plans:\n  free: { windows: [{ limit: 2, per: minute }] }\n';

const { stops, gateway } = gatewaysOfTests({ plans: PLANS });

test('polls for newer requests have each refusal once, by filter, also of a request that began long before', async () => {
  const { promise: requested, resolve: noteAsked } = Promise.withResolvers<() => void>();
  const backend = await fakeBackend((_request, response) =>
    noteAsked(() => response.writeHead(503).end('[]')),
  );
  stops.push(() => backend.close());
  const one = await gateway({ backendUrl: backend.url });
  const [{ secret }, other] = [await one.key(), await one.key({ account: 'umbrella' })];
  const call = adminOf(one.adminUrl);
  const poll = async (query: string) => {
    const { requests, newest } = bodyOf(await call('GET', `/requests?${query}`));
    return { newest, codes: requests.map(({ code }: RefusedRequest) => code) };
  };
  const slow = one.client.get('/pets').set('X-API-Key', other.secret).then();
  const response = await requested;
  await one.client.get('/nowhere').set('X-API-Key', secret);
  const first = await poll('limit=1');
  expect(first.codes).toEqual(['not_found']);
  expect(await poll(`newer=${first.newest}`)).toEqual({ ...first, codes: [] });
  response();
  await slow;
  const second = await poll(`newer=${first.newest}`);
  expect(second.codes).toEqual([null]);
  await one.client.get('/pets');
  expect((await poll(`newer=${second.newest}`)).codes).toEqual(['missing_api_key']);
  expect((await poll(`newer=${first.newest}&account=umbrella`)).codes).toEqual([null]);
  expect((await call('GET', '/requests?newer=unknown')).status).toBe(400);
});

test('storegate requests --follow prints refusals of a running gateway as they happen, until it or the gateway is stopped', async () => {
  const one = await gateway();
  const [{ secret }, other] = [await one.key(), await one.key({ account: 'umbrella' })];
  await one.client.get('/before').set('X-API-Key', secret);
  const local = { STOREGATE_DATA: 'data' };
  const beside = storegate(['requests', '--follow', '--account', 'acme'], {
    cwd: one.folder,
    env: local,
  });
  stops.push(async () => void beside.child.kill('SIGKILL'));
  let json = '';
  const remote = commandLine(one.folder, (text) => {
    json += text;
  })(['requests', '--follow', '--json'], { env: { STOREGATE_ADMIN_URL: one.adminUrl } });
  const unread = new AbortController();
  const piped = commandLine(one.folder)(['requests', '--follow'], {
    env: { STOREGATE_ADMIN_URL: one.adminUrl },
    unread: unread.signal,
  });
  const ids: string[] = [];
  const send = async (key: string) =>
    void ids.push(
      (await one.client.get('/nowhere').set('X-API-Key', key)).headers['x-request-id']!,
    );
  await until('both are reported', async () => {
    // After ten identical refusals one a second is kept.
    one.clock.pass(1_000);
    await send(secret);
    await send(other.secret);
    return beside.out().split('\n').length > 2 && json.includes('umbrella');
  });
  expect(beside.out()).toMatch(
    /^time +status +code .*\n20\S+ +(404 +not_found|429 +rate_limit_exceeded|403 +key_banned) .* acme +127\.0\.0\.1 +/,
  );
  expect(beside.out()).not.toContain('umbrella');
  const printed = json
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as RefusedRequest);
  expect(printed.map(({ key }) => key!.account)).toEqual(
    expect.arrayContaining(['acme', 'umbrella']),
  );
  expect(ids).toEqual(expect.arrayContaining(printed.map(({ id }) => id)));
  expect(new Set(printed.map(({ id }) => id)).size).toBe(printed.length);
  beside.child.kill('SIGINT');
  expect(await beside.exit).toBe(0);
  unread.abort();
  expect((await piped).code).toBe(0);
  await one.close();
  expect(await remote).toMatchObject({
    code: 3,
    err: expect.stringMatching(/^Cannot reach the gateway at/m),
  });
  const stopped = await commandLine(one.folder)(['requests', '--follow'], { env: local });
  expect(stopped).toMatchObject({ code: 1, err: 'No gateway is running.\n' });
});
