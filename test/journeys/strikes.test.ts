import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Code, ERROR_CODES } from '../../src/common/errors/catalogue.ts';
import type { Response } from '../support/client.ts';
import { isTheError } from '../support/expect-headers.ts';
import { TestGateway } from '../support/gateway.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { temporaryFolders } from '../support/temporary.ts';
import { until } from '../support/until.ts';

const PLANS = `plans:
  free: { windows: [{ limit: 1000, per: minute }, { limit: 5000, per: day }] }
  minute: { windows: [{ limit: 2, per: minute }, { limit: 1000, per: day }] }
  day: { windows: [{ limit: 2, per: day }] }
  shared: { windows: [{ limit: 2, per: minute }], count: account }
  workers: { windows: [{ limit: 2, per: minute }], workers: 5 }
  sliding: { windows: [{ limit: 2, per: minute, kind: sliding }] }
  narrow: { windows: [{ limit: 1000, per: minute }], concurrency: 1 }
  team: { windows: [{ limit: 1000, per: minute }], concurrency: 1, count: account }
public: { windows: [{ limit: 3, per: minute }], concurrency: 1 }
bans: { strikes: 4, workers: 2, window: 1m, grace: 0ms, durations: [1m] }
`;
const DONE = 'responses: { default: { description: Any. } }';
const CONTRACT = `openapi: 3.0.3
info: { title: Strikes, version: '1' }
paths:
  /any: { get: { operationId: any, ${DONE} } }
  /held: { get: { operationId: held, ${DONE} } }
  /once: { get: { operationId: once, x-ratelimit: 2/minute, ${DONE} } }
  /tagged: { get: { operationId: tagged, tags: [Few], ${DONE} } }
  /open: { get: { operationId: open, security: [], ${DONE} } }
  /open/held: { get: { operationId: openHeld, security: [], ${DONE} } }
tags: [{ name: Few, x-ratelimit: 2/minute }]
`;

interface Kind {
  readonly code: Code;
  /** Without a plan the requests have no key. */
  readonly plan?: string;
  readonly path: string;
  /** Requests before the first refusal, at most. */
  readonly before: number;
  /** Held at the backend meanwhile. */
  readonly held?: string;
  readonly secret?: string;
  /** Refusals in a wait that are not strikes; absent: 2. */
  readonly free?: number;
}

const MINUTE = { code: 'rate_limit_exceeded', path: '/any', before: 2 } as const;
const IN_FLIGHT = { code: 'too_many_in_flight', before: 0 } as const;
const OF_KEY = { ...IN_FLIGHT, path: '/any', held: '/held' };
const WRONG = { code: 'too_many_failed_attempts', secret: `sg_live_${'0'.repeat(40)}` } as const;

/** Every 429 that the gateway sends, except by address for its pages and for preflights. */
const STRIKES: readonly (readonly [what: string, kind: Kind])[] = [
  ['the minute of a key', { ...MINUTE, plan: 'minute' }],
  ['the day of a key', { ...MINUTE, code: 'daily_quota_exceeded', plan: 'day' }],
  ['the minute of an account', { ...MINUTE, plan: 'shared' }],
  ['the minute of a plan with workers of its own', { ...MINUTE, plan: 'workers', free: 5 }],
  ['a sliding minute', { ...MINUTE, plan: 'sliding' }],
  ['an operation', { ...MINUTE, plan: 'free', path: '/once' }],
  ['a tag', { ...MINUTE, plan: 'free', path: '/tagged' }],
  ['open requests of a key', { ...OF_KEY, plan: 'narrow' }],
  ['open requests of an account', { ...OF_KEY, plan: 'team' }],
];
const NO_STRIKES: readonly (readonly [what: string, kind: Kind])[] = [
  ['the usage of a key', { ...MINUTE, plan: 'free', path: '/usage', before: 120 }],
  ['the usage of a month', { ...MINUTE, plan: 'free', path: '/usage?period=2026-01', before: 10 }],
  ['open requests without a key', { ...IN_FLIGHT, path: '/open', held: '/open/held' }],
  ['the minute of requests without a key', { ...MINUTE, path: '/open', before: 3 }],
  ['requests with a wrong key', { ...WRONG, path: '/any', before: 60 }],
];

const IN_REDIS = ['the minute of a key', 'open requests of a key', 'requests with a wrong key'];

/** Requests after the first refusal: Redis counts strikes later. */
const MOST = 10_000;
const WARNING = { 'x-ban-warning': 'strikes-left=1' };
const COUNTS = /ban this key|lead to a ban|count towards a ban|bans this key/;

const folder = temporaryFolders({ keep: true });
const held: ServerResponse[] = [];
let backend: Server;
let redis: RedisServer;
beforeAll(async () => {
  redis = await startRedis();
  backend = createServer((request, response) => {
    if (request.url!.endsWith('/held')) held.push(response);
    else response.end('[]');
  });
  await once(backend.listen(0, '127.0.0.1'), 'listening');
});
afterAll(async () => {
  backend.close();
  backend.closeAllConnections();
  await redis.stop();
});

test('the table has every code with status 429', () => {
  const codes = ERROR_CODES.filter(({ status }) => status === 429).map(({ code }) => code);
  const kinds = [...STRIKES, ...NO_STRIKES].map(([, { code }]) => code);
  expect(new Set(kinds)).toEqual(new Set(codes));
});

describe.each([
  ['embedded', () => ({})],
  ['Redis', () => ({ REDIS_URL: redis.url })],
])('with counters in %s', (name, env: () => Record<string, string>) => {
  let gateway: TestGateway;
  beforeAll(async () => {
    const contract = join(folder(), 'contract.yaml');
    writeFileSync(contract, CONTRACT);
    gateway = await TestGateway.start({
      plans: PLANS,
      settings: `contract: { file: ${contract} }\nredis: { deadline: 5s }\n`,
      backendUrl: `http://127.0.0.1:${(backend.address() as AddressInfo).port}`,
      env: env(),
    });
  });
  afterAll(() => gateway.stop());

  /** Redis counts by the rules of memory (test/state/equal.test.ts): a row of each kind is enough. */
  const rowsOf = (rows: typeof STRIKES) =>
    name === 'embedded' ? rows : rows.filter(([what]) => IN_REDIS.includes(what));

  /** The responses from the first 429 on, until another status comes. */
  async function refusalsOf(kind: Kind, most: number): Promise<Response[]> {
    const { secret } = kind.plan ? await gateway.key({ plan: kind.plan }) : kind;
    const get = (path: string) => {
      const sent = gateway.client.get(path);
      return secret === undefined ? sent : sent.set('X-API-Key', secret);
    };
    const open = kind.held === undefined ? null : get(kind.held).then(({ status }) => status);
    if (open) await until('the backend has the request', () => held.length === 1);
    try {
      let response = await get(kind.path);
      for (let i = 0; response.status !== 429; i++) {
        expect(i).toBeLessThan(kind.before);
        response = await get(kind.path);
      }
      const refusals = [response];
      while (response.status === 429 && refusals.length < most) {
        response = await get(kind.path);
        refusals.push(response);
      }
      return refusals;
    } finally {
      for (const response of held.splice(0)) response.end('[]');
      await open;
    }
  }

  test.each(rowsOf(STRIKES))(
    'refusals by %s are strikes beyond the free ones, and each says so',
    async (_name, kind) => {
      const responses = await refusalsOf(kind, MOST);
      const last = responses.pop()!;
      isTheError(last, 403, 'key_banned');
      expect(last.body.message).toMatch(/because (?:it|they) kept sending after 429/);
      expect(last.headers).not.toHaveProperty('x-ban-warning');
      for (const response of responses) isTheError(response, 429, kind.code);
      const words = responses.map(({ body }) => COUNTS.exec(body.message)?.[0]);
      const free = kind.free ?? 2;
      // The last free one says that the next one is a strike. Redis counts later, so that refusals
      // may repeat the words of the one before.
      const counts = [
        ['lead to a ban', free - 1],
        ['count towards a ban', 3],
        ['bans this key', 1],
      ] as const;
      if (name === 'embedded')
        expect(words.slice(0, free + 3)).toEqual(
          counts.flatMap(([word, times]) => Array(times).fill(word)),
        );
      const before = words.slice(0, words.indexOf('bans this key') >>> 0);
      for (const [word, times] of counts.slice(0, 2))
        expect(before.filter((one) => one === word).length).toBeGreaterThanOrEqual(times);
      expect(before.slice(0, free - 1)).not.toContain('count towards a ban');
      for (const [i, { headers }] of responses.entries())
        if (words[i] === 'bans this key') expect(headers).toMatchObject(WARNING);
        else expect(headers).not.toHaveProperty('x-ban-warning');
    },
  );

  test.each(rowsOf(NO_STRIKES))(
    'refusals by %s are no strikes, and none warns',
    async (_name, kind) => {
      const responses = await refusalsOf(kind, 10);
      expect(responses).toHaveLength(10);
      for (const response of responses) {
        isTheError(response, 429, kind.code);
        expect(response.body.message).not.toMatch(COUNTS);
        expect(response.headers).not.toHaveProperty('x-ban-warning');
      }
    },
  );
});
