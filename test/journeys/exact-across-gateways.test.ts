import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { commandLine, type Result } from '../support/command-line.ts';
import { TestGateway } from '../support/gateway.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { until } from '../support/until.ts';
import { type FakeBackend, fakeBackend } from '../support/upstream.ts';

const GATEWAYS = 4;
const CALLERS = 200;

// All processes share the processors of the test machine: a delay is not an outage.
const SETTINGS = `redis: { deadline: 1m }
upstream: { headersTimeout: 5m, connectTimeout: 5m }
log: { requests: false }
`;

let redis: RedisServer;
let backend: FakeBackend;
let gateways: TestGateway[];
let run: (...args: string[]) => Promise<Result>;
beforeAll(async () => {
  redis = await startRedis();
  backend = await fakeBackend((_, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('[]');
  });
  const env = { REDIS_URL: redis.url };
  const start = () => TestGateway.start({ settings: SETTINGS, env, backendUrl: backend.url });
  gateways = await Promise.all(Array.from({ length: GATEWAYS }, start));
  run = (...args) =>
    commandLine(gateways[0]!.folder)(args, { env: { ...env, STOREGATE_CONFIG: 'gateway.yaml' } });
});
afterAll(async () => {
  await Promise.all(gateways.map((gateway) => gateway.stop()));
  await backend.close();
  await redis.stop();
});

async function createKey(...limits: string[]): Promise<string> {
  const { code, out, err } = await run(
    ...['keys', 'create', '--plan', 'enterprise', '--account', 'acme', '--key-only', ...limits],
  );
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return out.trim();
}

async function flood(
  key: string,
  requests: number,
): Promise<{ status: number; remaining: number }[]> {
  const answers: { status: number; remaining: number }[] = [];
  let left = requests;
  const call = async (_: unknown, caller: number) => {
    while (left-- > 0) {
      const response = await fetch(`${gateways[caller % GATEWAYS]!.url}/categories`, {
        headers: { 'X-API-Key': key },
      });
      await response.arrayBuffer();
      answers.push({
        status: response.status,
        remaining: Number(response.headers.get('x-ratelimit-remaining')),
      });
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, call));
  return answers;
}

test('two hundred clients of one key at four gateways get exactly its limit, and every remainder once', async () => {
  const key = await createKey('--limits', '500/hour,2000/day');
  const answers = await flood(key, 1_000);
  const admitted = answers.filter(({ status }) => status === 200).map(({ remaining }) => remaining);
  expect(admitted.sort((a, b) => a - b)).toEqual([...new Array(500).keys()]);
  expect(new Set(answers.map(({ status }) => status)).isSubsetOf(new Set([200, 429, 403]))).toBe(
    true,
  );
});

test('a key that the command line revokes is refused by every gateway', async () => {
  const key = await createKey('--limits', '500/hour');
  const statuses = () =>
    Promise.all(
      gateways.map(
        async ({ url }) =>
          (await fetch(`${url}/categories`, { headers: { 'X-API-Key': key } })).status,
      ),
    );
  expect(await statuses()).toEqual([200, 200, 200, 200]);
  const { out } = await run('keys', 'list', '--json');
  const { id } = (JSON.parse(out) as { id: string; limits: string }[]).find(
    ({ limits }) => limits === '500/hour',
  )!;
  await run('keys', 'revoke', id);
  await until('all of them refuse it', async () =>
    (await statuses()).every((status) => status === 401),
  );
});
