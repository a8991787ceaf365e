import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Outage } from '../../src/common/errors/outage.ts';
import type { RedisSettings } from '../../src/config/config.ts';
import { remainingIn } from '../../src/limits/admission.ts';
import { createKeyCacheReader } from '../../src/records/key-cache/reader.ts';
import type { KeyRecord } from '../../src/records/keys/key.ts';
import { keyOf } from '../../src/state/redis/key-names.ts';
import { allKeys, changed, keyRecord, note } from '../support/records.ts';
import { openShared, type SharedGateway } from '../support/redis/gateway.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { startCluster, startSentinelSet } from '../support/redis/topologies.ts';
import { until } from '../support/until.ts';
import { keepsThePromisesOfKeyChanges } from './key-change-contract.ts';
import { keepsThePromisesOfKeyStore } from './keystore-contract.ts';

const newFolder = () => mkdtempSync(join(tmpdir(), 'storegate-'));

async function untilCopied(folder: string, record: KeyRecord): Promise<void> {
  const failures: unknown[] = [];
  const reader = createKeyCacheReader(folder, (error) => failures.push(error));
  await until('the copy has it', () => {
    expect(failures).toEqual([]);
    return (
      reader.find(record.hash)?.record.version === record.version &&
      (reader.freshness?.swept ?? 0) > 0
    );
  });
  reader.close();
}

describe('keys in Redis with a copy', () => {
  let server: RedisServer;
  let gateways: SharedGateway[];

  beforeAll(async () => {
    server = await startRedis();
    const open = () => openShared({ url: server.url, deadline: 5_000 }, { folder: newFolder() });
    gateways = await Promise.all([open(), open()]);
  });
  afterAll(async () => {
    for (const gateway of gateways) await gateway.close();
    await server.stop();
  });

  const open = async () => {
    // Without its mark, Redis would not be believed to have no key.
    const mark = await server.admin.get(keyOf.dataMark);
    await server.admin.flushall();
    await server.admin.set(keyOf.dataMark, mark!);
    return { one: gateways[0]!, other: gateways[1]! };
  };
  describe('keep the promises of a key store', () => keepsThePromisesOfKeyStore(open));
  describe('keep the promises of changes', () => keepsThePromisesOfKeyChanges(open));
});

interface Set {
  readonly settings: Partial<RedisSettings> & { readonly url: string };
  /** All that must answer for Redis to be there. */
  readonly servers: readonly RedisServer[];
  stop(): Promise<void>;
}

const topologies: [name: string, start: () => Promise<Set>][] = [
  [
    'a Redis',
    async () => {
      const server = await startRedis();
      return { settings: { url: server.url }, servers: [server], stop: () => server.stop() };
    },
  ],
  [
    'Sentinels that have no master',
    async () => {
      const { url, nodes, master, replica, stop } = await startSentinelSet();
      return { settings: { url, nodes, topology: 'sentinel' }, servers: [master, replica], stop };
    },
  ],
  [
    'a Cluster',
    async () => {
      const { url, nodes, masters, stop } = await startCluster();
      return { settings: { url, nodes, topology: 'cluster' }, servers: masters, stop };
    },
  ],
];

/** `undefined`: Redis is down. */
async function found(gateway: SharedGateway, hash: string): Promise<KeyRecord | null | undefined> {
  try {
    return await gateway.keys.find(hash);
  } catch (error) {
    if (error instanceof Outage) return undefined;
    throw error;
  }
}

describe.each(topologies)('without %s', (_, startSet) => {
  let set: Set;
  let gateway: SharedGateway | null = null;

  beforeAll(async () => {
    set = await startSet();
  });
  afterEach(() => gateway?.close());
  afterAll(() => set.stop());

  test('a gateway starts from its copy while nothing answers, and takes all of it up later', async () => {
    const folder = newFolder();
    const first = await openShared(set.settings, { folder });
    const [record, plain] = [keyRecord(), keyRecord()];
    await first.keys.add(record, note());
    await first.keys.add(plain, note());
    const revoked = changed(record, { revokedAt: 5 });
    await first.keys.replace(revoked, note());
    for (const one of [revoked, plain]) await untilCopied(folder, one);
    await first.close();

    for (const server of set.servers) server.signal('SIGSTOP');
    const second = await openShared({ ...set.settings, readyDuringOutage: false }, { folder });
    gateway = second;
    expect(second.eventCount('state.unavailable_at_start')).toBe(1);
    expect(second.eventCount('state.outage')).toBe(1);
    expect(second.ready()).toBe(false);
    await expect(second.keys.find(record.hash)).rejects.toThrow(Outage);
    expect(second.keys.findCopy!(record.hash)).toEqual(revoked);
    expect(second.keys.findCopy!(plain.hash)).toEqual(plain);
    expect(second.keys.findCopy!('unseen')).toBeNull();
    await expect(second.keys.find('unseen')).rejects.toThrow(Outage);
    await expect(second.keys.hasImported()).rejects.toThrow(Outage);
    await expect(allKeys(second.keys)).rejects.toThrow(Outage);
    const limits = {
      windows: [{ name: 'minute', kind: 'fixed' as const, limit: 2, span: 60_000 }],
      escalation: null,
    };
    expect((await second.state.admit('key:1', limits, 1)).verdict).toBe('admitted');

    for (const server of set.servers) server.signal('SIGCONT');
    await until('Redis is taken up', () => second.eventCount('state.recovered') === 1);
    expect(second.ready()).toBe(true);
    await until(
      'it finds what is only there',
      async () => (await found(second, 'unseen')) === null,
    );
    await until('it knows what was counted here', async () => {
      const { readings } = await second.state.look('key:1', limits);
      return remainingIn(readings[0]!) === 1;
    });
    expect(second.eventCount('state.incompatible')).toBe(0);
    const made = keyRecord();
    await second.keys.add(made, note());
    await untilCopied(folder, made);
  });
});
