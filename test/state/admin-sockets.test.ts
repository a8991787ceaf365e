import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { adminSocketsIn, fetchThrough, openAdminSocket } from '../../src/state/admin-sockets.ts';
import { temporaryFolders } from '../support/temporary.ts';

const folderOf = temporaryFolders();
const servers: Server[] = [];
const serverNamed = (name: string) => {
  const server = createServer((_request, response) => response.end(name));
  servers.push(server);
  return server;
};
const stop = (server: Server) =>
  new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
afterEach(async () => {
  await Promise.all(servers.splice(0).map(stop));
});

async function answersIn(folder: string): Promise<string[]> {
  return await Promise.all(
    adminSocketsIn(folder).map(async (socket) => (await fetchThrough(socket, '/')).text()),
  );
}

test('a folder has a socket for each gateway that runs on it, for its owner only', async () => {
  const folder = join(folderOf(), 'data');
  const umask = process.umask(0);
  try {
    expect(adminSocketsIn(folder)).toEqual([]);
    const removeFirst = await openAdminSocket(folder, serverNamed('first'));
    const removeSecond = await openAdminSocket(folder, serverNamed('second'));
    expect((await answersIn(folder)).sort()).toEqual(['first', 'second']);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(folder))
      expect([name, statSync(join(folder, name)).mode & 0o777]).toEqual([name, 0o600]);
    removeFirst();
    expect(await answersIn(folder)).toEqual(['second']);
    removeSecond();
    expect(readdirSync(folder)).toEqual([]);
    expect(process.umask()).toBe(0);
  } finally {
    process.umask(umask);
  }
});

test('a start removes the socket of a process that has ended, and of no other', async () => {
  const folder = folderOf();
  const ended = serverNamed('ended');
  await openAdminSocket(folder, ended);
  await openAdminSocket(folder, serverNamed('running'));
  await stop(ended);
  expect(adminSocketsIn(folder)).toHaveLength(2);
  await openAdminSocket(folder, serverNamed('next'));
  expect((await answersIn(folder)).sort()).toEqual(['next', 'running']);
});

test('gateways that start at once remove the socket of a process that has ended', async () => {
  const folder = folderOf();
  const ended = serverNamed('ended');
  await openAdminSocket(folder, ended);
  await stop(ended);
  const names = ['a', 'b', 'c'];
  await Promise.all(names.map((name) => openAdminSocket(folder, serverNamed(name))));
  expect((await answersIn(folder)).sort()).toEqual(names);
});

test('a process that hangs keeps its socket', async () => {
  const folder = folderOf();
  const hanging = createServer(() => {});
  servers.push(hanging);
  await openAdminSocket(folder, hanging);
  await openAdminSocket(folder, serverNamed('next'));
  expect(adminSocketsIn(folder)).toHaveLength(2);
});

test('a path that is too long for a socket is reached through its folder', async () => {
  const folder = join(folderOf(), 'a'.repeat(60), 'b'.repeat(60));
  mkdirSync(folder, { recursive: true });
  const remove = await openAdminSocket(folder, serverNamed('far'));
  expect(await answersIn(folder)).toEqual(['far']);
  remove();
  expect(readdirSync(folder)).toEqual([]);
});

test('a folder that cannot be read has no sockets, and other files are none', () => {
  const file = join(folderOf(), 'file');
  writeFileSync(file, '');
  expect([adminSocketsIn(file), adminSocketsIn(join(file, 'inner'))]).toEqual([[], []]);
  const folder = folderOf();
  writeFileSync(join(folder, 'admin.sock'), '');
  writeFileSync(join(folder, '.admin.0123456789ab.sock'), '');
  expect(adminSocketsIn(folder)).toEqual([]);
});

test('a folder that cannot be made is named', async () => {
  const file = join(folderOf(), 'file');
  writeFileSync(file, '');
  await expect(openAdminSocket(file, serverNamed('none'))).rejects.toThrow(
    `cannot use the data folder ${file}`,
  );
});
