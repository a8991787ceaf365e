import { writeFileSync } from 'node:fs';
import { request } from 'node:http';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { FaultyBackend, hangs, responses as replies } from '../support/faulty-backend.ts';
import { TestGateway } from '../support/gateway.ts';
import { temporaryFolders } from '../support/temporary.ts';
import { until } from '../support/until.ts';
import { HANDSHAKE, SWITCHED } from '../support/websocket.ts';

const backends: FaultyBackend[] = [];
const temporary = temporaryFolders();
let gateway: TestGateway;
let key = '';
afterEach(async () => {
  await gateway.stop();
  await Promise.all(backends.splice(0).map((backend) => backend.close()));
});

const PLANS = 'plans: { free: { windows: [{ limit: 100000, per: minute }] } }\n';
const PROBED =
  'ejection: { probeInterval: 50ms, slowStart: 100ms }, healthChecks: { timeout: 200ms }';
const QUICK = `headersTimeout: 1s, ${PROBED}`;

async function backend(respond = replies()): Promise<FaultyBackend> {
  const one = await FaultyBackend.start(respond);
  backends.push(one);
  return one;
}

async function start(settings: string, contract = 'none'): Promise<void> {
  const env = { STOREGATE_CONTRACT: contract };
  gateway = await TestGateway.start({ settings, plans: PLANS, env });
  key = (await gateway.key()).secret;
}

async function ask(path = '/pets', init: RequestInit = {}) {
  const begun = performance.now();
  const response = await fetch(gateway.url + path, {
    ...init,
    headers: { 'x-api-key': key, ...init.headers },
  });
  const text = await response.text();
  const { code = null } = response.ok ? {} : JSON.parse(text);
  return {
    status: response.status,
    code,
    took: performance.now() - begun,
    retryAfter: response.headers.get('retry-after'),
  };
}

const lines = (msg: string) => gateway.log.filter((line) => line.msg === msg);
const untilLogged = (msg: string) => until(`${msg} is logged`, () => lines(msg).length > 0);

describe('a backend that hangs', () => {
  test('delays the first clients by its timeout, then none for more than a moment, until it is up', async () => {
    const one = await backend(hangs);
    await start(`upstream: { url: "${one.url}", ${QUICK} }`);
    const first = await Promise.all(Array.from({ length: 10 }, () => ask()));
    expect(first.map(({ code }) => code)).toEqual(Array(10).fill('upstream_timeout'));
    await untilLogged('upstream.down');
    const requested = one.asked.length;
    const next = [];
    for (let i = 0; i < 30; i++) next.push(await ask());
    expect(next.map(({ status, code, retryAfter }) => [status, code, retryAfter])).toEqual(
      Array(30).fill([503, 'upstream_down', '1']),
    );
    expect(one.asked.length).toBe(requested);
    one.respond = replies();
    await untilLogged('upstream.up');
    expect((await ask()).status).toBe(200);
    expect(lines('upstream.down')).toEqual([
      expect.objectContaining({ upstreamName: 'default', backend: one.name, reason: 'hanging' }),
    ]);
  });
});

test('WebSockets take a hanging backend down, and no request waits for it; and one that they find well is up', async () => {
  const one = await backend(
    (socket, request) => request.startsWith('GET / ') && replies()(socket, request),
  );
  await start(
    `upstream: { url: "${one.url}", ${QUICK} }\napis: [{ name: live, path: /live, contract: none, stripPath: false, websocket: true}]`,
  );
  const upgrade = () =>
    new Promise<number>((resolve, reject) => {
      const headers = { ...HANDSHAKE, 'x-api-key': key };
      const requested = request(`${gateway.url}/live`, { headers }, (response) => {
        response.resume();
        resolve(response.statusCode!);
      });
      requested.on('error', reject).on('upgrade', (response, socket) => {
        socket.destroy();
        resolve(response.statusCode!);
      });
      requested.end();
    });
  expect(await Promise.all(Array.from({ length: 5 }, upgrade))).toEqual(Array(5).fill(504));
  await untilLogged('upstream.down');
  const requested = one.asked.length;
  expect(await Promise.all(Array.from({ length: 5 }, upgrade))).toEqual(Array(5).fill(503));
  expect(one.asked.length).toBe(requested);
  one.respond = (socket, request) =>
    request.startsWith('GET / ') ? replies()(socket, request) : socket.write(SWITCHED);
  await until(
    'it is back',
    async () => (await upgrade()) === 101 && lines('upstream.up').length > 0,
  );
});

describe('connections of a failed backend', () => {
  test('do not block requests once it is up', async () => {
    const dead = new Set<unknown>();
    let isDead = true;
    const one = await backend((socket, request) => {
      // Not before both requests wait: they would be refused.
      if (isDead && (one.asked.length === 2 || !request.startsWith('GET /health ')))
        dead.add(socket);
      if (!dead.has(socket)) replies()(socket, request);
    });
    const checks =
      'healthChecks: { path: /health, interval: 100ms, timeout: 1s, unhealthyThreshold: 2 }';
    await start(
      `upstream: { url: "${one.url}", connections: 2, headersTimeout: 5m, ejection: { probeInterval: 50ms }, ${checks} }`,
    );
    const lost = new AbortController();
    const first = Promise.allSettled(
      Array.from({ length: 2 }, () => ask('/pets', { signal: lost.signal })),
    );
    await untilLogged('upstream.down');
    isDead = false;
    await until('it is back', async () => (await ask()).status === 200);
    expect(dead.size).toBeGreaterThanOrEqual(3);
    lost.abort();
    await first;
    await until('they are closed', () => [...dead].every((socket) => (socket as Socket).destroyed));
  });
});

test('are waited for once: a request does not wait for another backend too', async () => {
  const [one, two] = [await backend(hangs), await backend(hangs)];
  const settings = 'connections: 1, headersTimeout: 1s, ejection: { enabled: false }';
  await start(`upstream: { url: "${one.url},${two.url}", ${settings} }`);
  const all = await Promise.all(Array.from({ length: 10 }, () => ask()));
  // The first request at each store, and the next, which takes its slot when all others have timed
  // out.
  expect(one.asked.length + two.asked.length).toBeLessThanOrEqual(4);
  expect(new Set(all.map(({ code }) => code))).toEqual(
    new Set(['upstream_timeout', 'upstream_busy']),
  );
});

describe('health checks', () => {
  test('take a backend down before a client notices, and bring it up', async () => {
    let status = 200;
    const one = await backend((socket, request) =>
      replies(request.startsWith('GET /health ') ? status : 200)(socket, request),
    );
    const two = await backend();
    const checks =
      'healthChecks: { path: /health, interval: 100ms, unhealthyThreshold: 2, healthyThreshold: 2, statuses: [200] }';
    await start(
      `upstream: { url: "${one.url},${two.url}", ejection: { probeInterval: 50ms, slowStart: 100ms }, ${checks} }`,
    );
    status = 503;
    await untilLogged('upstream.down');
    expect(lines('upstream.down')).toEqual([
      expect.objectContaining({
        backend: one.name,
        reason: 'check',
        error: 'the check returned 503',
      }),
    ]);
    const before = one.asked.length;
    for (let i = 0; i < 20; i++) expect((await ask()).status).toBe(200);
    expect(one.asked.length).toBe(before);
    status = 200;
    await untilLogged('upstream.up');
  });

  test('with a wrong path leave a single backend its requests, with one warning', async () => {
    const one = await backend((socket, request) =>
      replies(request.startsWith('GET /helth ') ? 404 : 200)(socket, request),
    );
    await start(
      `upstream: { url: "${one.url}", healthChecks: { path: /helth, interval: 100ms, unhealthyThreshold: 2, statuses: [200] } }`,
    );
    const checks = () => one.asked.filter((request) => request.startsWith('GET /helth ')).length;
    await until('many checks have failed', () => checks() >= 6);
    expect((await ask()).status).toBe(200);
    const warnings = gateway.log.filter(({ msg }) =>
      String(msg).startsWith('upstream.check_failed'),
    );
    expect(warnings).toEqual([
      expect.objectContaining({
        level: 40,
        backend: one.name,
        error: 'the check returned 404',
      }),
    ]);
    expect(lines('upstream.down')).toEqual([]);
  });
});

describe('of two backends', () => {
  test('requests that wait for a connection to one that goes down are answered by the other, or refused at once', async () => {
    const [one, two] = [
      await backend(hangs),
      await backend((socket, request) => void setTimeout(() => replies()(socket, request), 50)),
    ];
    const settings =
      'connections: 2, headersTimeout: 2s, ejection: { timeouts: 2, probeInterval: 50ms }';
    await start(`upstream: { url: "${one.url},${two.url}", ${settings} }`);
    const outcomes = (await Promise.all(Array.from({ length: 20 }, () => ask()))).map(
      ({ status, code }) => code ?? status,
    );
    const late = (list: readonly unknown[]) =>
      list.filter((outcome) => outcome === 'upstream_timeout').length;
    expect([new Set(outcomes), late(outcomes) <= 3]).toEqual([
      new Set([200, 'upstream_timeout']),
      true,
    ]);
    await untilLogged('upstream.down');
    writeFileSync(
      join(gateway.folder, 'gateway.yaml'),
      `upstream: { url: "${(await backend(hangs)).url}", ${settings} }\n`,
    );
    await untilLogged('reload.done');
    const alone = (await Promise.all(Array.from({ length: 12 }, () => ask()))).map(
      ({ code }) => code,
    );
    expect([new Set(alone), late(alone) <= 3]).toEqual([
      new Set(['upstream_down', 'upstream_timeout']),
      true,
    ]);
  });

  test('with retries of timeouts, one that hangs only causes delays', async () => {
    const [one, two] = [await backend(hangs), await backend()];
    await start(
      `upstream: { url: "${one.url},${two.url}", retries: { timeouts: true }, ${QUICK} }`,
    );
    // The first backend is chosen at random.
    do expect((await ask()).status).toBe(200);
    while (one.asked.length === 0);
    expect(new Set(lines('request').map(({ backend }) => backend))).toEqual(new Set([two.name]));
    await until('its log says so', () =>
      gateway.log.some(({ msg }) => String(msg).startsWith('retry')),
    );
  });
});

test('a reload changes backends under load without a lost request, and leaves unchanged ones alone', async () => {
  const [one, two, three] = [await backend(), await backend(), await backend()];
  await start(`upstream: { url: "${one.url},${two.url}", ${PROBED} }`);
  let going = true;
  const outcomes = new Map<number, number>();
  const caller = async () => {
    for (; going; await pause(5)) {
      const { status } = await ask();
      outcomes.set(status, (outcomes.get(status) ?? 0) + 1);
    }
  };
  const callers = Array.from({ length: 8 }, caller);
  await until('there is load', () => one.asked.length > 20 && two.asked.length > 20);
  const connections = two.connections;
  const file = join(gateway.folder, 'gateway.yaml');
  for (const weight of [5, 1]) {
    const backends = `[{ url: "${two.url}" }, { url: "${three.url}", weight: ${weight} }]`;
    writeFileSync(file, `upstream: { backends: ${backends}, ${PROBED} }\n`);
    const done = lines('reload.done').length;
    await until('it is in force', () => lines('reload.done').length > done);
  }
  const remaining = one.asked.length;
  await until('the new one has load', () => three.asked.length > 20);
  going = false;
  await Promise.all(callers);
  expect([...outcomes.keys()]).toEqual([200]);
  expect(one.asked.length).toBeLessThanOrEqual(remaining + 8);
  await until('nothing is left of the one that went', () => one.connections === 0);
  expect(two.connections).toBeGreaterThanOrEqual(Math.min(1, connections));
  expect(lines('upstream.down')).toEqual([]);
});

test('a backend that is down and removed from the settings is reported as up, and again as down if they name it later', async () => {
  const [one, two] = [await backend(), await backend()];
  await one.close();
  backends.splice(backends.indexOf(one), 1);
  const both = `upstream: { url: "${one.url},${two.url}", ${PROBED} }`;
  await start(both);
  const untilDown = (times: number) =>
    until(
      'it is down',
      async () => (await ask()).status === 200 && lines('upstream.down').length === times,
    );
  await untilDown(1);
  const file = join(gateway.folder, 'gateway.yaml');
  writeFileSync(file, `upstream: { url: "${two.url}", ${PROBED} }\n`);
  await untilLogged('upstream.up');
  expect(lines('upstream.up')).toEqual([
    expect.objectContaining({ backend: one.name, removed: true }),
  ]);
  writeFileSync(file, `${both}\n`);
  await untilDown(2);
});

describe('the contract selects the upstream', () => {
  const responses = { 200: { description: 'done' } };
  const get = (operationId: string, more: object = {}) => ({
    get: { operationId, responses, ...more },
  });
  const contract = (name: string) =>
    JSON.stringify({
      openapi: '3.0.3',
      info: { title: 'T', version: '1' },
      tags: [{ name: 'stock', 'x-storegate-upstream': name }],
      paths: {
        '/plain': get('plain'),
        '/stock': get('stock', { tags: ['stock'] }),
        '/both': { 'x-storegate-upstream': 'default', ...get('both', { tags: ['stock'] }) },
      },
    });

  test('by operation, path or tag, and of an API without a contract by its name; a reload applies all, or names the mistake', async () => {
    const [one, two, three] = [
      await backend(replies(200, '"one"')),
      await backend(replies(200, '"two"')),
      await backend(),
    ];
    const settings = (second: FaultyBackend) =>
      `upstream: { url: "${one.url}", ${PROBED} }\n` +
      `upstreams: { stock: { url: "${second.url}/base" } }\napis: [{ name: files, path: /files, contract: none, stripPath: false, upstream: stock}]\n`;
    const file = join(temporary(), 'api.json');
    writeFileSync(file, contract('stock'));
    await start(settings(two), file);
    for (const path of ['/plain', '/stock', '/both', '/files/a?b=c'])
      expect((await ask(path)).status).toBe(200);
    expect(one.requests).toEqual(['GET /plain HTTP/1.1', 'GET /both HTTP/1.1']);
    expect(two.requests).toEqual(['GET /base/stock HTTP/1.1', 'GET /base/files/a?b=c HTTP/1.1']);

    writeFileSync(file, contract('stok'));
    await until('it is refused', () => lines('reload.failed').length > 0);
    expect(lines('reload.failed')[0]!.problems).toEqual([
      expect.stringMatching(
        /api\.json: stock \(GET \/stock\): x-storegate-upstream names stok, .*did you mean stock\?$/,
      ),
    ]);
    writeFileSync(file, contract('stock'));
    writeFileSync(join(gateway.folder, 'gateway.yaml'), settings(three));
    await until('it is in force', () =>
      lines('reload.done').some(({ changed }) => String(changed).includes('upstreams')),
    );
    expect((await ask('/stock')).status).toBe(200);
    expect(three.requests).toEqual(['GET /base/stock HTTP/1.1']);
  });
});
