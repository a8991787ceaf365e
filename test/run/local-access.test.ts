import { existsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { Event } from '../../src/observe/events.ts';
import { createLocalAccess } from '../../src/run/local-access.ts';
import { adminSocketsIn } from '../../src/state/admin-sockets.ts';
import { temporaryFolders } from '../support/temporary.ts';

const folderOf = temporaryFolders();

function accessTo(data: string) {
  const events: Event[] = [];
  const access = createLocalAccess(data, (event) => void events.push(event));
  return { access, events };
}

test('a folder that cannot be used is reported, and commands then need a token', async () => {
  const folder = join(folderOf(), 'file');
  writeFileSync(folder, '');
  const { access, events } = accessTo(folder);
  await access.open(createServer());
  await access.close();
  const warning = expect.stringMatching(/^commands need --url and a token, .*file/);
  expect(events).toEqual([{ type: 'state.warning', warning }]);
});

test('a stop during the start leaves no socket', async () => {
  const folder = folderOf();
  const { access, events } = accessTo(folder);
  const server = createServer();
  const opened = access.open(server);
  await access.close();
  await opened;
  expect(adminSocketsIn(folder)).toEqual([]);
  await new Promise((resolve) => server.close(resolve));
  expect(events).toEqual([]);
  expect(existsSync(folder)).toBe(true);
});
