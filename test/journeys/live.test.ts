import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, test } from '@jest/globals';
import { ADMIN_CONTRACT } from '@storegate/admin-api/files';
import { parse } from 'yaml';
import { adminOf } from '../support/admin.ts';
import { commandLine } from '../support/command-line.ts';
import { bodyOf } from '../support/failure.ts';
import { type FollowedLive, followLive } from '../support/followed.ts';
import { TestGateway } from '../support/gateway.ts';
import { storegate } from '../support/storegate.ts';
import { until } from '../support/until.ts';

interface Described {
  readonly $ref?: string;
  readonly required?: readonly string[];
  readonly allOf?: readonly Described[];
}

const PLANS = 'plans:\n  free: { windows: [{ limit: 2, per: minute }] }\n';

const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

async function gateway(
  options: Parameters<typeof TestGateway.start>[0] = {},
): Promise<TestGateway> {
  const started = await TestGateway.start({ plans: PLANS, ...options });
  stops.push(() => started.stop());
  return started;
}

async function follow(...args: Parameters<typeof followLive>): Promise<FollowedLive> {
  const followed = await followLive(...args);
  stops.push(() => followed.stop());
  return followed;
}

const sum = (followed: FollowedLive, field: string): number =>
  followed.of('now').reduce((all, one) => all + one[field], 0);
const ticks = (followed: FollowedLive, count: number) =>
  until(`there were ${count} ticks`, () => followed.of('now').length >= count);

describe('a single gateway', () => {
  test('reports events as they happen, to each listener by its filter', async () => {
    const one = await gateway();
    const [{ secret, id }, other] = [await one.key(), await one.key({ account: 'umbrella' })];
    const all = await follow(one.adminUrl);
    const umbrella = await follow(one.adminUrl, '?event=refused&account=umbrella');
    expect(all.headers.get('content-type')).toMatch(/^text\/event-stream/);
    await ticks(all, 1);
    for (let i = 0; i < 4; i++) await one.client.get('/pets').set('X-API-Key', secret);
    await one.client.get('/nowhere').set('X-API-Key', other.secret);
    await until('all is counted', () => sum(all, 'requests') === 5);
    expect([sum(all, 'admitted'), sum(all, 'limited')]).toEqual([3, 2]);
    const counted = all.of('now').find(({ requests }) => requests > 0);
    expect(counted.latency.p50).toBeGreaterThan(0);
    expect(counted.gateways).toMatchObject([
      { readiness: 'ready', state: 'embedded', workers: 0, processes: 1 },
    ]);
    await until(
      'both have their refusals',
      () => all.of('refused').length > 0 && umbrella.of('refused').length > 0,
    );
    const refusals = all.of('refused').flatMap(({ requests }) => requests);
    expect(refusals.map(({ code }) => code)).toEqual(
      expect.arrayContaining(['rate_limit_exceeded', 'rate_limit_exceeded', 'not_found']),
    );
    expect(refusals.find(({ code }) => code === 'rate_limit_exceeded')).toMatchObject({
      key: { id },
      status: 429,
    });
    expect(umbrella.of('refused')).toMatchObject([
      { requests: [{ code: 'not_found', key: { id: other.id } }], omitted: 0 },
    ]);
    expect(umbrella.of('now')).toEqual([]);

    const { schemas } = parse(readFileSync(ADMIN_CONTRACT, 'utf8')).components;
    const requiredOf = ({ $ref, required = [], allOf = [] }: Described): string[] =>
      $ref
        ? requiredOf(schemas[$ref.split('/').at(-1)!])
        : [...required, ...allOf.flatMap(requiredOf)];
    expect(Object.keys(counted).sort()).toEqual(requiredOf(schemas.LiveNow).sort());
    expect(Object.keys(counted.gateways[0]).sort()).toEqual(requiredOf(schemas.LiveGateway).sort());
    expect(Object.keys(all.of('refused')[0]).sort()).toEqual(
      requiredOf(schemas.LiveRefused).sort(),
    );
  });

  test('ends a stream with its token or session, and at a stop, which no stream delays', async () => {
    const one = await gateway();
    const call = adminOf(one.adminUrl);
    const open = await follow(one.adminUrl);
    const { token } = bodyOf(await call('POST', '/tokens', { name: 'first', role: 'admin' }));
    const as = { Authorization: `Bearer ${token}` };
    const second = bodyOf(await call('POST', '/tokens', { name: 'second', role: 'read' }, as));
    const revoked = await follow(one.adminUrl, '', { Authorization: `Bearer ${second.token}` });
    const kept = await follow(one.adminUrl, '?event=now', as);
    const page = { 'Sec-Fetch-Site': 'same-origin' };
    const session = {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...page },
      body: JSON.stringify({ token }),
    };
    const [cookie] = (
      await fetch(`${one.adminUrl}/console/session`, session)
    ).headers.getSetCookie();
    const Cookie = cookie!.split(';')[0]!;
    const signedOut = await follow(`${one.adminUrl}/console/api`, '?event=now', { Cookie });
    await ticks(signedOut, 1);
    await fetch(`${one.adminUrl}/console/session`, {
      method: 'DELETE',
      headers: { Cookie, ...page },
    });
    await ticks(revoked, 1);
    expect((await call('DELETE', '/tokens/second', undefined, as)).status).toBe(200);
    await until('who may no more has ended', () => revoked.ended && open.ended && signedOut.ended);
    expect(kept.ended).toBe(false);
    expect((await followLive(one.adminUrl)).status).toBe(401);
    expect((await fetch(`${one.adminUrl}/live`, { method: 'HEAD', headers: as })).status).toBe(200);
    await one.close();
    await until('it has ended', () => kept.ended);
  });
});

test('storegate requests --follow prints refusals of a running gateway as they happen, until it or the gateway is stopped', async () => {
  const one = await gateway();
  const [{ secret }, other] = [await one.key(), await one.key({ account: 'umbrella' })];
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
  await until('both are reported', async () => {
    await one.client.get('/nowhere').set('X-API-Key', secret);
    await one.client.get('/nowhere').set('X-API-Key', other.secret);
    return beside.out().split('\n').length > 2 && json.includes('umbrella');
  });
  expect(beside.out()).toMatch(
    /^time +status +code .*\n20\S+ +(404 +not_found|429 +rate_limit_exceeded) .* acme +127\.0\.0\.1 +/,
  );
  expect(beside.out()).not.toContain('umbrella');
  const accounts = json
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).key.account);
  expect(accounts).toEqual(expect.arrayContaining(['acme', 'umbrella']));
  beside.child.kill('SIGINT');
  expect(await beside.exit).toBe(0);
  unread.abort();
  expect((await piped).code).toBe(0);
  await one.close();
  expect(await remote).toMatchObject({
    code: 3,
    err: expect.stringMatching(
      /^(The gateway at \S+ closed the stream|Lost the connection to the gateway at)/m,
    ),
  });
  const stopped = await commandLine(one.folder)(['requests', '--follow'], { env: local });
  expect(stopped).toMatchObject({ code: 1, err: 'No gateway is running.\n' });
});
