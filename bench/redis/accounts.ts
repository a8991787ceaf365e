/**
 * Time, commands and CPU of questions about accounts and plans, among many keys in Redis:
 *
 *     node --disable-warning=ExperimentalWarning bench/redis/accounts.ts --keys 200000
 *
 * First without the lists of keys, as until they are built, then with them. An account has ten
 * keys, one key in ten is of the plan pro, one in a hundred expires. Commands include those that a
 * script calls.
 */
import { parseArgs } from 'node:util';
import type { KeyRecord } from '../../src/records/keys/key.ts';
import type { KeyStore } from '../../src/records/keys/store.ts';
import { applyNewKeys } from '../../src/records/redis/key-change.ts';
import { forgetIndex } from '../../src/records/redis/key-index.ts';
import { repairKeyIndex } from '../../src/records/redis/key-index-repair.ts';
import { openOffline } from '../../src/records/redis/open.ts';
import { connect, disconnect } from '../../src/state/redis/client.ts';
import { keyOf } from '../../src/state/redis/key-names.ts';
import { KEPT } from '../../test/support/audit.ts';
import { startRedis } from '../../test/support/redis/server.ts';
import { DEFAULTS } from '../../test/support/redis/settings.ts';

const { values } = parseArgs({ options: { keys: { type: 'string', default: '200000' } } });
const count = Number(values.keys);
const BATCH = 500;
const DAY = 86_400_000;

const server = await startRedis();
const settings = { ...DEFAULTS, url: server.url };
const redis = await connect(settings);
const offline = await openOffline(settings, KEPT);
const { keys } = offline;
try {
  for (let at = 0; at < count; at += BATCH)
    await applyNewKeys(redis, {
      records: Array.from({ length: Math.min(BATCH, count - at) }, (_, i) => record(at + i)),
    });
  const listed = await bytes();
  await withoutLists();
  console.log(
    `${count} keys; their lists take ${Math.round((listed - (await bytes())) / count)} bytes a key`,
  );
  console.log(`${''.padEnd(40)}       ms  commands  CPU ms here  CPU ms Redis`);
  await ask('without lists');
  await measure('lists are built, with pauses of 10 ms', () => repairKeyIndex(redis, pause));
  await ask('with lists');
} finally {
  await offline.close();
  disconnect(redis);
  await server.stop();
}

function record(i: number): KeyRecord {
  return {
    id: `key_${String(i).padStart(16, '0')}`,
    version: 1,
    hash: String(i).padStart(43, 'h'),
    account: `account-${Math.floor(i / 10)}`,
    plan: i % 10 === 0 ? 'pro' : 'free',
    label: null,
    windows: null,
    addresses: null,
    scopes: [],
    metadata: {},
    createdAt: 1_700_000_000_000 + i,
    expiresAt: i % 100 === 0 ? Date.now() + (i % 90) * DAY : null,
    disabledAt: null,
    revokedAt: null,
    rotatedAt: null,
    previous: null,
    imported: false,
  };
}

async function withoutLists(): Promise<void> {
  await forgetIndex(redis);
  const accounts = Array.from({ length: Math.ceil(count / 10) }, (_, i) =>
    keyOf.keysOfAccount(`account-${i}`),
  );
  for (let at = 0; at < accounts.length; at += BATCH)
    await redis.del(...accounts.slice(at, at + BATCH));
  const plans = ['free', 'pro'].flatMap((plan) => [
    keyOf.keysOfPlan(plan),
    keyOf.revokedKeysOfPlan(plan),
  ]);
  await redis.del(...plans, keyOf.expiringKeys, keyOf.accounts, keyOf.plans);
}

async function ask(how: string): Promise<void> {
  const soon = () => keys.readExpiring(Date.now(), Date.now() + DAY);
  await measure(`${how}: usage of an unknown account`, () =>
    readAll(keys.read({ account: 'typo' })),
  );
  await measure(`${how}: keys of an account`, () => readAll(keys.read({ account: 'account-7' })));
  await measure(`${how}: a page of 100 accounts`, () => pageOfAccounts(keys));
  await measure(`${how}: counts of two plans`, () => keys.countKeys(['free', 'pro']));
  await measure(`${how}: keys that expire in a day`, () => readAll(soon()));
}

async function pageOfAccounts({ accounts, readAccounts }: KeyStore): Promise<void> {
  await readAll(readAccounts(await accounts('', 100)));
}

async function readAll(pages: AsyncIterable<readonly KeyRecord[]>): Promise<void> {
  for await (const _ of pages);
}

async function measure(name: string, work: () => unknown): Promise<void> {
  const before = await figures();
  await work();
  const after = await figures();
  const [ms, commands, here, there] = after.map((figure, i) => figure - before[i]!) as [
    number,
    number,
    number,
    number,
  ];
  const cells = [ms.toFixed(1).padStart(9), String(commands - 1).padStart(10)];
  console.log(
    `${name.padEnd(40)}${cells.join('')}${here.toFixed(0).padStart(13)}${there.toFixed(0).padStart(14)}`,
  );
}

/** Milliseconds, commands, and milliseconds of CPU here and in Redis. */
async function figures(): Promise<number[]> {
  const { user, system } = process.cpuUsage();
  const info = await server.admin.info('everything');
  const sum = (form: RegExp) =>
    [...info.matchAll(form)].reduce((all, [, figure]) => all + Number(figure), 0);
  const commands = sum(/^cmdstat_[^:]+:calls=(\d+)/gm);
  const there = sum(/^used_cpu_(?:sys|user):([\d.]+)/gm) * 1_000;
  return [performance.now(), commands, (user + system) / 1_000, there];
}

async function bytes(): Promise<number> {
  return Number(/^used_memory:(\d+)/m.exec(await server.admin.info('memory'))![1]);
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 10));
}
