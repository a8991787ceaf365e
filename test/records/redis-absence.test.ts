import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Outage } from '../../src/common/errors/outage.ts';
import { remainingIn } from '../../src/limits/admission.ts';
import type { KeyRecord } from '../../src/records/keys/key.ts';
import { allKeys, changed, keyRecord, note } from '../support/records.ts';
import { openShared, type SharedGateway } from '../support/redis/gateway.ts';
import { modelOf } from '../support/redis/records.ts';
import { temporaryFolders } from '../support/temporary.ts';
import { until } from '../support/until.ts';
import { type RedisSet, TOPOLOGIES } from './topologies.ts';

const newFolder = temporaryFolders();

/** `undefined`: Redis is down. */
async function found(gateway: SharedGateway, hash: string): Promise<KeyRecord | null | undefined> {
  try {
    return await gateway.keys.find(hash);
  } catch (error) {
    if (error instanceof Outage) return undefined;
    throw error;
  }
}

describe.each(TOPOLOGIES)('without %s', (_, start) => {
  let set: RedisSet;
  let gateway: SharedGateway | null = null;

  beforeAll(async () => {
    set = await start(false);
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
    await modelOf(first);
    await first.close();

    for (const server of [...set.masters, ...set.replicas]) server.signal('SIGSTOP');
    const second = await openShared({ ...set.settings, readyDuringOutage: false }, { folder });
    gateway = second;
    expect(second.eventCount('state.unavailable_at_start')).toBe(1);
    expect(second.eventCount('state.outage')).toBe(1);
    expect(second.ready()).toBe(false);
    for (const one of [revoked, plain]) expect(second.keys.find(one.hash)).toEqual(one);
    await expect(second.keys.find('unseen')).rejects.toThrow(Outage);
    await expect(allKeys(second.keys)).rejects.toThrow(Outage);
    expect(second.lastKnown!.keys()!.get(plain.id)).toEqual(plain);
    const limits = {
      windows: [{ name: 'minute', kind: 'fixed' as const, limit: 2, span: 60_000 }],
      escalation: null,
    };
    expect((await second.state.admit('key:1', limits, 1)).verdict).toBe('admitted');

    for (const server of [...set.masters, ...set.replicas]) server.signal('SIGCONT');
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
    expect(second.keys.find(made.hash)).toEqual(made);
  });
});
