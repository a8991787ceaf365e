import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { shippedFiles } from '../../src/config/load.ts';
import { adminOf } from '../support/admin.ts';
import { TestGateway } from '../support/gateway.ts';
import { startRedis } from '../support/redis/server.ts';
import { until } from '../support/until.ts';

/** Every series name that was scraped, with its labels and their values. */
export type Exposition = ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>;

const PLANS = `plans:
  free: { windows: [{ limit: 5, per: minute }] }
bans: { strikes: 3, lengths: [1m] }
`;
const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? \S+$/;

/** What real gateways give Prometheus after everything that they count has happened. */
export async function exposed(): Promise<Exposition> {
  const all = new Map<string, Map<string, Set<string>>>();
  for (const text of [await fromGatewayAlone(), await fromGatewayThatLostRedis()]) {
    for (const line of text.split('\n')) {
      if (line === '' || line.startsWith('#')) continue;
      const [, name, labels = ''] = SAMPLE.exec(line) ?? [];
      if (name === undefined) throw new Error(`not a sample: ${line}`);
      const known = all.get(name) ?? new Map<string, Set<string>>();
      all.set(name, known);
      for (const [, label, value] of labels.matchAll(/(\w+)="([^"]*)"/g)) {
        known.set(label!, (known.get(label!) ?? new Set()).add(value!));
      }
    }
  }
  return all;
}

/** Answers, refusals, a ban, a replaced secret, both results of a reload, a fault that is only told, and rubbish collected. */
async function fromGatewayAlone(): Promise<string> {
  const gateway = await TestGateway.start({ plans: PLANS });
  try {
    const file = (name: string) => join(gateway.folder, name);
    const admin = adminOf(gateway.adminUrl);
    const contract = readFileSync(shippedFiles.contract, 'utf8');
    const creating = 'operationId: createPet\n';
    writeFileSync(file('own.yaml'), contract.replace(creating, `${creating}      x-report-only: true\n`));
    writeFileSync(file('gateway.yaml'), 'contract: { file: own.yaml }\n');
    await admin('POST', '/reload');
    writeFileSync(file('plans.yaml'), 'plans: []\n');
    await admin('POST', '/reload');

    const { secret, id } = await gateway.key();
    await admin('POST', `/keys/${id}/rotate`, { overlap: '1h' });
    await gateway.client.post('/pets').set('X-API-Key', secret).send({ nonsense: true });
    await gateway.client.get('/pets');
    const pets = async () => (await gateway.client.get('/pets').set('X-API-Key', secret)).status;
    for (let i = 0; i < 20 && (await pets()) !== 403; i++) gateway.clock.pass(150);
    return await textWith(gateway, ['storegate_bans_total{', 'nodejs_gc_duration_seconds_count{']);
  } finally {
    await gateway.stop();
  }
}

async function fromGatewayThatLostRedis(): Promise<string> {
  const redis = await startRedis();
  const settings = 'redis: { deadline: 1s, misses: 1 }';
  const gateway = await TestGateway.start({ settings, env: { REDIS_URL: redis.url } });
  try {
    const { secret } = await gateway.key();
    const ask = async () => void (await gateway.client.get('/pets').set('X-API-Key', secret));
    // As Prometheus does it: who may ask is remembered from the scrape before the outage.
    await textWith(gateway, ['storegate_admissions_total{'], ask);
    await redis.kill();
    return await textWith(gateway, ['storegate_state_alone_total{', 'storegate_state_mode{mode="local"}'], ask);
  } finally {
    await gateway.stop();
    await redis.stop();
  }
}

/** Scrapes until each of `parts` is there: a request is counted when its answer is through, garbage when it is collected. */
async function textWith(gateway: TestGateway, parts: readonly string[], meanwhile = async () => {}): Promise<string> {
  let text = '';
  await until(`the metrics have ${parts.join(' and ')}`, async () => {
    await meanwhile();
    ({ text } = await gateway.admin.get('/metrics'));
    return parts.every((part) => text.includes(part));
  });
  return text;
}
