import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { done, head } from '../../../packages/openapi/test/documents.ts';
import { deprecated } from '../../../src/observe/peers/deprecated.ts';
import { ask, type Peers } from '../../../src/observe/peers/peers.ts';
import { QUERIES } from '../../../src/observe/peers/queries.ts';
import type { PeerQuery } from '../../../src/observe/peers/query.ts';
import type { ListedRequest } from '../../../src/observe/peers/requests.ts';
import { explain, refusals } from '../../../src/observe/peers/requests.ts';
import { status } from '../../../src/observe/peers/status.ts';
import { rowIn } from '../../../src/observe/traffic/packing.ts';
import { requestsIn } from '../../../src/observe/traffic/row.ts';
import { connect, disconnect } from '../../../src/state/redis/client.ts';
import { peersInRedis } from '../../../src/state/redis/peers.ts';
import { createSubscriber } from '../../../src/state/redis/subscriber.ts';
import { folderWith } from '../../config/folder.ts';
import { adminOf } from '../../support/admin.ts';
import { bodyOf } from '../../support/failure.ts';
import { TestGateway } from '../../support/gateway.ts';
import { SECOND } from '../../support/limits.ts';
import { type RedisServer, startRedis, startTogether } from '../../support/redis/server.ts';
import { DEFAULTS } from '../../support/redis/settings.ts';
import { until } from '../../support/until.ts';
import { type FakeBackend, fakeBackend } from '../../support/upstream.ts';
import { get } from '../../support/workers.ts';

/** Small: each process reads it. */
const CONTRACT = JSON.stringify({
  ...head,
  paths: {
    '/pets': { get: { operationId: 'listPets', responses: done } },
    '/pets/1': { get: { operationId: 'getPet', deprecated: true, responses: done } },
  },
});
const settings = (kept: number) =>
  `log: { level: error }\nupstream: { connections: 10 }\nexplain: { bufferSize: ${kept} }\n`;
const plans = (more: string) =>
  `plans:\n  free: { windows: [{ limit: 1000, per: hour }${more}] }\n`;
const RELOADED = {
  'gateway.yaml': settings(400),
  'plans.yaml': plans(', { limit: 5000, per: day }'),
};

interface Asked {
  readonly gateway: TestGateway;
  readonly peers: Peers;
  readonly id: string;
  readonly key: string;
  readonly carried: Map<string, string[]>;
}

let servers: RedisServer[] = [];
let backend: FakeBackend;
let all: Asked[] = [];
let sent = 0;
const closings: (() => Promise<void>)[] = [];

async function start(redis: RedisServer, workers: number): Promise<Asked> {
  const contract = join(folderWith({ 'openapi.json': CONTRACT }), 'openapi.json');
  const env = {
    REDIS_URL: redis.url,
    STOREGATE_WORKERS: `${workers}`,
    STOREGATE_CONTRACT: contract,
  };
  const gateway = await TestGateway.start({
    settings: settings(600),
    plans: plans(''),
    env,
    backendUrl: backend.url,
  });
  closings.push(() => gateway.stop());
  const connection = await connect({ ...DEFAULTS, url: redis.url });
  const subscriber = createSubscriber(connection);
  const peers = peersInRedis(connection, subscriber, { self: null, failed: () => {} });
  closings.push(async () => {
    await peers.close();
    subscriber.close();
    disconnect(connection);
  });
  const { id, key } = bodyOf(
    await adminOf(gateway.adminUrl)('POST', '/keys', { account: 'acme', plan: 'free' }),
  );
  return { gateway, peers, id, key, carried: new Map() };
}

beforeAll(async () => {
  servers = await startTogether([() => startRedis(), () => startRedis()]);
  backend = await fakeBackend((_request, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('[]');
  });
  all = await Promise.all(servers.map((redis, i) => start(redis, i + 1)));
});
afterAll(async () => {
  for (const close of closings.reverse()) await close();
  await Promise.all([backend.close(), ...servers.map((redis) => redis.stop())]);
});

async function responseOf<A, R>(
  { peers }: Asked,
  question: Pick<PeerQuery<string, A, never, never, never, R>, 'name' | 'isResponse'>,
  argument: A,
): Promise<R> {
  const { responses, unresponsive, isolated } = await ask(peers, question, argument);
  expect([responses.length, unresponsive, isolated]).toEqual([1, [], null]);
  return responses[0]!.response;
}

const sum = (values: readonly number[]): number => values.reduce((one, other) => one + other, 0);
const ANY = { key: null, account: null, api: null, code: null, since: null, before: null };
const LAST = { ...ANY, limit: 200, newer: null };
const seen = ({ method, operation, status, code, step, message, key }: ListedRequest) => ({
  method,
  operation,
  status,
  code,
  step,
  message,
  account: key?.account,
});

const FINDINGS: {
  readonly [N in (typeof QUERIES)[number]['name']]: (one: Asked) => Promise<unknown>;
} = {
  async status(one) {
    const { processes, configuration, readiness, state, version } = await responseOf(
      one,
      status,
      null,
    );
    const { plans, contract, waiting, lastReload } = configuration;
    const backends = processes.flatMap((process) =>
      process.backends.map(({ upstream, backend, state }) => [upstream, backend, state].join()),
    );
    return {
      readiness,
      state,
      version,
      plans,
      contract,
      waiting,
      reload: lastReload?.problems ?? null,
      backends: [...new Set(backends)],
      most: sum(processes.map(({ backend }) => backend.most)),
      inFlight: sum(processes.map(({ inFlight }) => inFlight)),
      requests: sum(processes.map(requestsOf)),
    };
  },
  async explain(one) {
    const found = [...one.carried.values()].flat().map((id) => responseOf(one, explain, id));
    return (await Promise.all(found)).map(({ request, memory }) => ({
      request: request && {
        ...seen(request),
        path: request.path,
        windows: request.windows.map(({ name }) => name),
      },
      kept: [memory?.requests, memory?.sample],
    }));
  },
  async refusals(one) {
    const { requests: listed, upTo } = await responseOf(one, refusals, LAST);
    const { processes } = await responseOf(one, status, null);
    expect(Object.keys(upTo)).toHaveLength(processes.length);
    expect(await responseOf(one, refusals, { ...LAST, newer: upTo })).toEqual({
      requests: [],
      upTo,
      calls: [],
    });
    expect(listed.map(({ at }) => at)).toEqual(
      listed.map(({ at }) => at).toSorted((one, other) => other - one),
    );
    const { calls = [] } = await responseOf(one, refusals, { ...LAST, key: one.id });
    expect(calls).toHaveLength(Math.min(20, sent));
    const good = calls.map(({ method, operation, status }) => `${method} ${operation} ${status}`);
    return [
      ...new Set([...listed.map((request) => JSON.stringify(seen(request))), ...good]),
    ].sort();
  },
  async deprecated(one) {
    const calls = await responseOf(one, deprecated, one.id);
    return calls.map(({ operation }) => operation);
  },
};

/**
 * Sends the same requests to all gateways, each on a new connection, until every process has
 * handled some.
 */
async function send(): Promise<void> {
  const before = await Promise.all(all.map(countedBy));
  for (const { carried } of all) carried.clear();
  await until('every process has carried some', async () => {
    sent++;
    for (const one of all) {
      await carry(one, '/pets/1', { 'X-API-Key': one.key });
      await carry(one, '/nowhere', { 'X-API-Key': one.key });
      await carry(one, '/pets', {});
    }
    const counted = await Promise.all(all.map(countedBy));
    return counted.every((counts, i) => counts.every((count, k) => count > before[i]![k]!));
  });
}

async function carry(
  { gateway, carried }: Asked,
  path: string,
  headers: Readonly<Record<string, string>>,
) {
  const { headers: got } = await get(`${gateway.url}${path}`, headers);
  const name = `${path} ${Object.keys(headers)}`;
  carried.set(name, [...(carried.get(name) ?? []), String(got['x-request-id'])]);
}

async function countedBy(one: Asked): Promise<number[]> {
  const { processes } = await responseOf(one, status, null);
  return processes.map(requestsOf);
}

const requestsOf = ({ counted }: { readonly counted?: string | undefined }) =>
  requestsIn(rowIn(counted!));

async function findings(): Promise<Record<string, unknown>> {
  await until('both have counted all', async () => {
    const counted = await Promise.all(all.map(async (one) => sum(await countedBy(one))));
    return counted.every((count) => count === counted[0]);
  });
  let [expected, ...others]: Record<string, unknown>[] = [];
  // Workers have the time of the machine, and store what they count every second.
  await until('all is in the ledger', async () => {
    for (const { gateway } of all) gateway.clock.now = Date.now();
    [expected, ...others] = await Promise.all(all.map(findingsOf));
    return [expected!, ...others].every(
      ({ ledger }) => (ledger as { total: number }).total === 2 * sent,
    );
  });
  for (const other of others) expect(other).toEqual(expected);
  return expected!;
}

async function processesOf(one: Asked) {
  const { processes } = await responseOf(one, status, null);
  const carried = await Promise.all(
    [...one.carried.values()].flat().map((id) => responseOf(one, explain, id)),
  );
  const { requests: listed } = await responseOf(one, refusals, LAST);
  const distinct = (numbers: readonly unknown[]) => [...new Set(numbers)].sort();
  return {
    status: processes.map(({ worker }) => worker),
    pids: new Set(processes.map(({ pid }) => pid)).size,
    explain: distinct(carried.map(({ request }) => request?.worker)),
    refusals: distinct(listed.map(({ worker }) => worker)),
  };
}

/** From the ledger, which every gateway can read. */
async function countedIn({ gateway }: Asked): Promise<unknown> {
  const { total, items } = bodyOf(await adminOf(gateway.adminUrl)('GET', '/top?window=day'));
  const { lastDay } = bodyOf(
    await adminOf(gateway.adminUrl)('POST', '/plans/free/simulate', { limits: '1/hour,1/day' }),
  );
  return {
    total,
    items: items.map(({ count, account }: Record<string, unknown>) => ({ count, account })),
    admitted: lastDay.requests.admitted,
    windows: lastDay.windows.map(({ counted, limited }: Record<string, unknown>) => [
      counted,
      limited,
    ]),
  };
}

async function findingsOf(one: Asked): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = { ledger: await countedIn(one) };
  for (const { name } of QUERIES) found[name] = await FINDINGS[name](one);
  return found;
}

test('two workers answer like one process, before and after a reload', async () => {
  await send();
  expect(await findings()).toMatchObject({
    status: { readiness: 'ready', most: 10, reload: null, requests: 3 * sent },
    ledger: {
      items: [{ count: 2 * sent, account: 'acme' }],
      admitted: 2 * sent,
      windows: [
        [true, 1],
        [false, 0],
      ],
    },
    explain: expect.arrayContaining([
      expect.objectContaining({
        kept: [600, 1],
        request: expect.objectContaining({ status: 404, windows: ['hour'] }),
      }),
    ]),
    refusals: [
      'GET getPet 200',
      expect.stringContaining('missing_api_key'),
      expect.stringContaining('not_found'),
    ],
    deprecated: ['getPet'],
  });

  expect(await Promise.all(all.map(processesOf))).toEqual(
    [[null], [1, 2]].map((workers) => ({
      status: workers,
      pids: workers.length,
      explain: workers,
      refusals: workers,
    })),
  );

  for (const { gateway } of all) {
    for (const [name, text] of Object.entries(RELOADED))
      writeFileSync(join(gateway.folder, name), text);
    expect((await adminOf(gateway.adminUrl)('POST', '/reload')).status).toBe(200);
    gateway.clock.pass(SECOND);
  }
  await send();
  expect(await findings()).toMatchObject({
    status: { readiness: 'ready', reload: [], requests: 3 * sent },
    ledger: {
      windows: [
        [true, 1],
        [true, 1],
      ],
    },
    explain: expect.arrayContaining([
      expect.objectContaining({
        kept: [400, 1],
        request: expect.objectContaining({ status: 404, windows: ['hour', 'day'] }),
      }),
    ]),
  });
});

test('two workers store all that they have counted at a stop, like one process', async () => {
  for (const { gateway } of all) {
    await gateway.close();
    await gateway.open();
  }
  for (const one of all) expect(await countedIn(one)).toMatchObject({ total: 2 * sent });
});
