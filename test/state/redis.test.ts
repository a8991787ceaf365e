import { afterAll, beforeAll, describe } from '@jest/globals';
import type { Connection } from '../../src/state/redis/client.ts';
import { connect } from '../../src/state/redis/client.ts';
import { RedisState } from '../../src/state/redis/counters.ts';
import { disconnect } from '../../src/state/redis/lasting.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { DEFAULTS } from '../support/redis/settings.ts';
import { keepsThePromisesOfState } from './contract.ts';

describe('the state in Redis', () => {
  let server: RedisServer;
  let redis: Connection;

  beforeAll(async () => {
    server = await startRedis();
    redis = await connect({ ...DEFAULTS, url: server.url });
  });
  afterAll(async () => {
    disconnect(redis);
    await server.stop();
  });

  describe('keeps the promises of State', () => {
    keepsThePromisesOfState(async (clock) => {
      await server.admin.flushall();
      return new RedisState(redis, { clock: clock.read, deadline: 2_000 });
    });
  });
});
