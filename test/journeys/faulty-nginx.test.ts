import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { adminOf } from '../support/admin.ts';
import { TestGateway } from '../support/gateway.ts';
import { type Fault, NginxBackend } from '../support/nginx-backend.ts';
import { until } from '../support/until.ts';

const UPSTREAM =
  'headersTimeout: 2s, ejection: { probeInterval: 200ms, slowStart: 0s, statuses: [503], failureRate: 1 }, retries: { budget: 1 }';
const PLANS = 'plans: { free: { windows: [{ limit: 1000000, per: minute }] } }';

const REASONS: Readonly<Record<Fault, string>> = {
  refuse: 'unreachable',
  hang: 'hanging',
  reset: 'broken',
  half: 'broken',
  garbage: 'broken',
  drip: 'hanging',
  error: 'statuses',
};
const FAULTS = Object.keys(REASONS) as Fault[];
/** Faults whose responses begin well: to a health check the backend seems to be up. */
const MILD: readonly Fault[] = ['half', 'error'];
/** Faults that cost no idempotent request its response. */
const RETRIED: readonly Fault[] = ['refuse', 'reset'];

// biome-ignore lint/suspicious/noExplicitAny: tests look into whatever was said.
type BackendStatus = any;

let gateway: TestGateway;
let a: NginxBackend;
let b: NginxBackend;
let key: string;
beforeAll(async () => {
  [a, b] = await Promise.all([NginxBackend.start('a'), NginxBackend.start('b')]);
  gateway = await TestGateway.start({
    backendUrl: `${a.url},${b.url}`,
    plans: PLANS,
    settings: `upstream: { ${UPSTREAM} }\n`,
  });
  key = (await gateway.key()).secret;
});
afterAll(async () => {
  await gateway?.stop();
  await Promise.all([a.stop(), b.stop()]);
});

interface Asked {
  readonly status: number;
  readonly by: string;
}

/** `status` 0: the response was aborted. */
async function ask(): Promise<Asked> {
  try {
    const response = await fetch(`${gateway.url}/pets`, { headers: { 'X-API-Key': key } });
    const text = await response.text();
    const { backend, code } = text.startsWith('{')
      ? JSON.parse(text)
      : { backend: 'error of the backend', code: undefined };
    return { status: response.status, by: backend ?? code };
  } catch {
    return { status: 0, by: 'none' };
  }
}

const askTimes = (times: number): Promise<Asked[]> =>
  Promise.all(Array.from({ length: times }, () => ask()));

async function statusOf({ label }: NginxBackend): Promise<BackendStatus> {
  const { body } = await adminOf(gateway.adminUrl)('GET', '/backends');
  return (body as BackendStatus).backends.find((one: BackendStatus) => one.backend === label);
}

async function metricOf(name: string, { label }: NginxBackend): Promise<number> {
  const { text } = await gateway.admin.get('/metrics');
  const line = text
    .split('\n')
    .find((one) => one.startsWith(`${name}{`) && one.includes(`"${label}"`));
  return Number(line?.split(' ').at(-1) ?? 0);
}

const lastEvent = (type: string) => gateway.log.findLast(({ msg }) => msg === type);

async function untilDown(
  backend: NginxBackend,
): Promise<{ answers: Asked[]; seen: BackendStatus }> {
  const responses: Asked[] = [];
  let seen: BackendStatus;
  await until(`${backend.name} is down`, async () => {
    seen = await statusOf(backend);
    if (seen.state === 'down') return true;
    responses.push(...(await askTimes(2)));
    return false;
  });
  return { answers: responses, seen };
}

async function untilBack(backend: NginxBackend): Promise<void> {
  await until(`${backend.name} is up again`, async () => {
    await ask();
    return (await statusOf(backend)).state === 'up';
  });
  await until(`${backend.name} answers`, async () => (await ask()).by === backend.name);
}

describe('of two backends', () => {
  test.each(FAULTS)(
    'one with this fault goes down, the other answers all, and it recovers: %s',
    async (fault) => {
      await until(
        'both answer',
        async () => new Set((await askTimes(8)).map(({ by }) => by)).size === 2,
      );
      await a.fail(fault);
      const { answers: responses, seen } = await untilDown(a);
      expect(responses.length).toBeGreaterThan(0);
      if (RETRIED.includes(fault)) {
        expect(responses.filter(({ status }) => status !== 200)).toEqual([]);
        expect(await metricOf('storegate_backend_retries_total', a)).toBeGreaterThan(0);
      }
      expect(seen).toMatchObject({
        upstream: 'default',
        state: 'down',
        reason: REASONS[fault],
        total: 1,
        down: 1,
      });
      expect(await statusOf(b)).toMatchObject({ state: 'up', reason: null });
      expect(lastEvent('upstream.down')).toMatchObject({
        upstreamName: 'default',
        backend: a.label,
        reason: REASONS[fault],
      });
      expect(await metricOf('storegate_backend_ejections_total', a)).toBeGreaterThan(0);
      expect(await metricOf('storegate_backend_up', b)).toBe(1);
      expect(seen.failures).toBeGreaterThan(0);
      // A backend whose responses begin well passes the health check.
      if (!MILD.includes(fault)) {
        expect(await metricOf('storegate_backend_up', a)).toBe(0);
        const { requests } = await statusOf(a);
        expect(await askTimes(30)).toEqual(Array(30).fill({ status: 200, by: 'b' }));
        expect((await statusOf(a)).requests).toBe(requests);
      }

      await a.recover();
      await untilBack(a);
      expect(lastEvent('upstream.up')).toMatchObject({ upstreamName: 'default', backend: a.label });
      expect(await metricOf('storegate_backend_up', a)).toBe(1);
    },
  );
});
