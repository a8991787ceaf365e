import { describe } from '@jest/globals';
import { RedisState } from '../../src/state/redis/counters.ts';
import { redisForSuite } from '../support/redis/suite.ts';
import { keepsThePromisesOfState } from './contract.ts';

describe('the state in Redis', () => {
  const own = redisForSuite();

  describe('keeps the promises of State', () => {
    keepsThePromisesOfState(async (clock) => {
      await own.server.admin.flushall();
      return new RedisState(own.redis, { clock: clock.read, deadline: 2_000 });
    });
  });
});
