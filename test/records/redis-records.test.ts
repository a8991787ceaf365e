import { afterAll, beforeAll, describe } from '@jest/globals';
import { KEPT } from '../support/audit.ts';
import { connectRecords, upToDate } from '../support/redis/records.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { DEFAULTS } from '../support/redis/settings.ts';
import { keepsThePromisesOfRecords } from './records-contract.ts';

describe('in one Redis', () => {
  let server: RedisServer;
  let connections: Awaited<ReturnType<typeof connectRecords>>[];
  let close = () => {};

  beforeAll(async () => {
    server = await startRedis();
    const settings = { ...DEFAULTS, url: server.url };
    connections = await Promise.all([connectRecords(settings), connectRecords(settings)]);
  });
  afterAll(async () => {
    close();
    for (const { close } of connections) close();
    await server.stop();
  });

  keepsThePromisesOfRecords(async (audit = KEPT) => {
    close();
    await server.admin.flushall();
    const opened = connections.map((connection) => connection.open({ audit }));
    close = () => {
      for (const { close } of opened) close();
    };
    for (const { records } of opened) await records.keys.isEmpty();
    return { one: upToDate(opened[0]!.records), other: upToDate(opened[1]!.records) };
  });
});
