import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { ADMIN_CONTRACT } from '../../src/admin/api.ts';
import { adminOf } from '../support/admin.ts';
import { bodyOf } from '../support/failure.ts';
import { type FollowedLive, followLive } from '../support/followed.ts';
import { TestGateway } from '../support/gateway.ts';
import { startRedis } from '../support/redis/server.ts';
import { finished, storegate } from '../support/storegate.ts';
import { until } from '../support/until.ts';
import { GatewayWithWorkers } from '../support/workers.ts';

const PLANS = 'plans:\n  free: { windows: [{ limit: 2, per: minute }] }\n';

const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

async function gateway(options: Parameters<typeof TestGateway.start>[0] = {}): Promise<TestGateway> {
  const started = await TestGateway.start({ plans: PLANS, ...options });
  stops.push(() => started.stop());
  return started;
}

async function follow(...args: Parameters<typeof followLive>): Promise<FollowedLive> {
  const followed = await followLive(...args);
  stops.push(() => followed.stop());
  return followed;
}

/** The sum over all ticks so far. */
const sum = (followed: FollowedLive, field: string): number =>
  followed.of('now').reduce((all, one) => all + one[field], 0);
const ticks = (followed: FollowedLive, count: number) =>
  until(`there were ${count} ticks`, () => followed.of('now').length >= count);

describe('a gateway that shares its state with nobody', () => {
  test('tells what happens as it happens: to each listener what it follows', async () => {
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
    expect(counted.gateways).toMatchObject([{ readiness: 'ready', state: 'embedded', workers: 0, processes: 1 }]);
    await until('both have their refusals', () => all.of('refused').length > 0 && umbrella.of('refused').length > 0);
    const told = all.of('refused').flatMap(({ requests }) => requests);
    expect(told.map(({ code }) => code)).toEqual(
      expect.arrayContaining(['rate_limit_exceeded', 'rate_limit_exceeded', 'not_found']),
    );
    expect(told.find(({ code }) => code === 'rate_limit_exceeded')).toMatchObject({ key: { id }, status: 429 });
    expect(umbrella.of('refused')).toMatchObject([
      { requests: [{ code: 'not_found', key: { id: other.id } }], left: 0 },
    ]);
    expect(umbrella.of('now')).toEqual([]);

    const { schemas } = parse(readFileSync(ADMIN_CONTRACT, 'utf8')).components;
    expect(Object.keys(counted).sort()).toEqual([...schemas.LiveNow.required].sort());
    expect(Object.keys(counted.gateways[0]).sort()).toEqual([...schemas.LiveGateway.required].sort());
    expect(Object.keys(all.of('refused')[0]).sort()).toEqual([...schemas.LiveRefused.required].sort());
  });

  test('ends a stream with its token or session, and when it stops, which no stream delays', async () => {
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
    const [cookie] = (await fetch(`${one.adminUrl}/console/session`, session)).headers.getSetCookie();
    const Cookie = cookie!.split(';')[0]!;
    const signedOut = await follow(`${one.adminUrl}/console/api`, '?event=now', { Cookie });
    await ticks(signedOut, 1);
    await fetch(`${one.adminUrl}/console/session`, { method: 'DELETE', headers: { Cookie, ...page } });
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

describe('gateways that share a Redis', () => {
  test('are told as one, by each of them; workers that end make no odd numbers, and who is silent is named', async () => {
    const redis = await startRedis();
    stops.push(() => redis.stop());
    const many = await GatewayWithWorkers.start({ redisUrl: redis.url, workers: 2 });
    stops.push(() => many.stop());
    const one = await gateway({ env: { REDIS_URL: redis.url } });
    const { key } = await many.key('100000/minute');
    const send = (url: string) =>
      fetch(`${url}/pets`, { headers: { 'X-API-Key': key } }).then((answer) => answer.text());
    const followed = await follow(one.adminUrl);
    await until('both are heard', () => followed.of('now').some(({ gateways }) => gateways.length === 2));
    const before = followed.of('now').length;
    for (let i = 0; i < 20; i++) await send(i % 2 ? one.url : many.url);
    await until('all is counted', () => sum(followed, 'requests') === 20);
    const parts = followed
      .of('now')
      .slice(before)
      .flatMap(({ gateways }) => gateways);
    expect(parts.find(({ workers }) => workers === 2)).toMatchObject({ processes: 2, readiness: 'ready' });
    expect(parts.filter(({ workers }) => workers === 2).reduce((all, { requests }) => all + requests, 0)).toBe(10);

    const aside = storegate(['requests', '--follow', '--json'], { cwd: many.folder, env: many.env });
    stops.push(async () => void aside.child.kill('SIGKILL'));
    let sent = 20;
    await until('a command beside them hears of both', async () => {
      for (const { url } of [many, one]) await fetch(`${url}/pets`).then((answer) => answer.text());
      sent += 2;
      await ticks(followed, followed.of('now').length + 1);
      const heard = aside.out().split('\n').slice(0, -1);
      return new Set(heard.map((line) => JSON.parse(line).gateway)).size === 2;
    });
    aside.child.kill('SIGINT');
    expect(await aside.exit).toBe(0);
    await until('these are counted', () => sum(followed, 'requests') === sent);

    const [pid] = many.pids;
    process.kill(pid!, 'SIGKILL');
    await until('another took its place', () => many.pids[0] !== pid);
    for (let i = 0; i < 10; i++) await send(many.url);
    await until('these are counted too', () => sum(followed, 'requests') >= sent + 10);
    expect(Math.min(...followed.of('now').map(({ requests }) => requests))).toBe(0);
    expect(sum(followed, 'requests')).toBe(sent + 10);

    await many.kill();
    await until('it is named', () => followed.of('now').at(-1).silent.length === 1);
    expect(followed.of('now').at(-1).gateways).toHaveLength(1);
  });
});

describe('storegate requests --follow', () => {
  const follows = (one: { folder: string }, args: readonly string[], env: Record<string, string>) => {
    const running = storegate(['requests', '--follow', ...args], { cwd: one.folder, env });
    stops.push(async () => void running.child.kill('SIGKILL'));
    return running;
  };

  test('prints refusals of a running gateway as they come, until it is stopped or the gateway stops', async () => {
    const one = await gateway();
    const [{ secret }, other] = [await one.key(), await one.key({ account: 'umbrella' })];
    const [beside, remote] = [
      follows(one, ['--account', 'acme'], { STOREGATE_DATA: 'data' }),
      follows(one, ['--json'], { STOREGATE_ADMIN_URL: one.adminUrl }),
    ];
    await until('both are told', async () => {
      await one.client.get('/nowhere').set('X-API-Key', secret);
      await one.client.get('/nowhere').set('X-API-Key', other.secret);
      return beside.out().split('\n').length > 2 && remote.out() !== '';
    });
    expect(beside.out()).toMatch(
      /^at +status +code .*\n20\S+ +(404 +not_found|429 +rate_limit_exceeded) .* acme +127\.0\.0\.1 +/,
    );
    expect(beside.out()).not.toContain('umbrella');
    const accounts = remote
      .out()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).key.account);
    expect(accounts).toEqual(expect.arrayContaining(['acme', 'umbrella']));
    beside.child.kill('SIGINT');
    expect(await beside.exit).toBe(0);
    await one.close();
    expect(await remote.exit).toBe(1);
    expect(remote.err()).toMatch(/^the gateway at \S+ (has ended it|is gone)/);
    const nobody = await finished(['requests', '--follow'], { cwd: one.folder, env: { STOREGATE_DATA: 'data' } });
    expect(nobody).toMatchObject({ code: 1, err: 'No gateway runs.\n' });
  });
});
