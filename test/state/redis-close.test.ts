import { mkdirSync, rmSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { rowFileIn } from '../../src/state/rows/row-file.ts';
import { RowWriteError } from '../../src/state/rows/row-writer.ts';
import { limits, MINUTE, window } from '../support/limits.ts';
import { openShared } from '../support/redis/gateway.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { temporaryFolders } from '../support/temporary.ts';
import { until } from '../support/until.ts';

const newFolder = temporaryFolders();
let server: RedisServer;

beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());

const connections = async () => `${await server.admin.client('LIST')}`.trim().split('\n').length;

test('a gateway whose rows cannot be written leaves Redis all the same', async () => {
  const before = await connections();
  const folder = newFolder();
  const gateway = await openShared({ url: server.url }, { folder });
  rmSync(rowFileIn(folder));
  mkdirSync(rowFileIn(folder));
  await gateway.state.admit('key:1', limits([window(5, MINUTE)]), 1);

  await expect(gateway.close()).rejects.toThrow(RowWriteError);

  await until('its connections are closed', async () => (await connections()) === before);
});
