import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { Event } from '../../src/observe/events.ts';
import { createLocalAccess } from '../../src/run/local-access.ts';
import { announcementsIn, redisPlace } from '../../src/state/announcements.ts';
import { temporaryFolders } from '../support/temporary.ts';

const folderOf = temporaryFolders();
const ADMIN = 'http://127.0.0.1:9901';
const TLS = { admin: null } as never;

function accessTo(data: string) {
  const events: Event[] = [];
  const access = createLocalAccess({ data, redis: null }, (event) => void events.push(event));
  return { access, events };
}

test('a folder that cannot be used is reported, and commands then need a token', () => {
  const folder = join(folderOf(), 'file');
  writeFileSync(folder, '');
  const { access, events } = accessTo(folder);
  access.announce(ADMIN, TLS);
  access.close();
  const warning = expect.stringMatching(/^commands need --url and a token, .*file/);
  expect(events).toEqual([{ type: 'state.warning', warning }]);
});

test('the token of each run is another one, and is withdrawn at its end', () => {
  const folder = folderOf();
  const [{ access: first }, { access: second }] = [accessTo(folder), accessTo(folder)];
  first.announce(ADMIN, TLS);
  second.announce(ADMIN, TLS);
  const tokens = announcementsIn(folder).map(({ token }) => token);
  expect(tokens).toEqual([first.token, second.token]);
  expect(first.token).not.toBe(second.token);
  first.close();
  second.close();
  expect(announcementsIn(folder)).toEqual([]);
});

test('a stop reports that its announcement cannot be removed', () => {
  const folder = folderOf();
  const { access, events } = accessTo(folder);
  access.announce(ADMIN, TLS);
  const file = join(folder, 'gateway.1.json');
  rmSync(file);
  // Root may remove any file, but rmSync removes no folder.
  mkdirSync(file);
  access.close();
  const warning = expect.stringMatching(
    /^the announcement of this gateway stays in its data folder/,
  );
  expect(events).toEqual([{ type: 'state.warning', warning }]);
  const { access: next } = accessTo(folder);
  rmSync(file, { recursive: true });
  next.announce(ADMIN, TLS);
  expect(announcementsIn(folder).map(({ token }) => token)).toEqual([next.token]);
  next.close();
});

test('a reload that ends after the stop announces nothing', () => {
  const folder = folderOf();
  const [{ access: first }, { access: second }] = [accessTo(folder), accessTo(folder)];
  first.announce(ADMIN, TLS);
  first.close();
  second.announce(ADMIN, TLS);
  first.announce(ADMIN, TLS);
  expect(announcementsIn(folder).map(({ token }) => token)).toEqual([second.token]);
  second.close();
});

test('a folder that cannot be read has no announcements, and a lock that cannot be tried hides none', () => {
  const file = join(folderOf(), 'file');
  writeFileSync(file, '');
  expect([announcementsIn(file), announcementsIn(join(file, 'inner'))]).toEqual([[], []]);
  const folder = folderOf();
  const { access } = accessTo(folder);
  access.announce(ADMIN, TLS);
  const lock = join(folder, 'gateway.1.lock');
  renameSync(lock, `${lock}.old`);
  symlinkSync(folder, lock);
  expect(announcementsIn(folder)).toHaveLength(1);
  access.close();
});

test.each([
  ['redis://h', 'redis://h:6379/0'],
  ['redis://127.0.0.1:7000/0', 'redis://user:pass@localhost:7000'],
  ['redis://[::1]:7000', 'rediss://localhost:7000/0'],
])('%s and %s are one Redis', (one, other) => {
  expect(redisPlace(one)).toBe(redisPlace(other));
});
