import { afterAll, beforeAll, describe } from '@jest/globals';
import { KEPT } from '../support/audit.ts';
import { openRecords } from '../support/redis/records.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { DEFAULTS } from '../support/redis/settings.ts';
import { keepsThePromisesOfKeyStore } from './keystore-contract.ts';
import { keepsThePromisesOfRecords } from './records-contract.ts';

describe('in one Redis', () => {
  let server: RedisServer;
  let gateways: Awaited<ReturnType<typeof openRecords>>[];

  beforeAll(async () => {
    server = await startRedis();
    const settings = { ...DEFAULTS, url: server.url };
    gateways = await Promise.all([openRecords(settings), openRecords(settings)]);
  });
  afterAll(async () => {
    for (const { close } of gateways) close();
    await server.stop();
  });

  async function open(audit = KEPT) {
    await server.admin.flushall();
    return { one: gateways[0]!.records(audit), other: gateways[1]!.records(audit) };
  }

  keepsThePromisesOfRecords(open);

  describe('with lists of keys', () => {
    keepsThePromisesOfKeyStore(async (audit) => {
      const records = await open(audit);
      await gateways[0]!.index();
      return records;
    });
  });
});
