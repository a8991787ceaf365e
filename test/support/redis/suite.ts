import { afterAll, beforeAll } from '@jest/globals';
import { type Connection, connect, disconnect } from '../../../src/state/redis/client.ts';
import { type RedisServer, startRedis } from './server.ts';
import { DEFAULTS } from './settings.ts';

/** Both are available from the first test on. */
export function redisForSuite(): { readonly server: RedisServer; readonly redis: Connection } {
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
  return {
    get server() {
      return server;
    },
    get redis() {
      return redis;
    },
  };
}
