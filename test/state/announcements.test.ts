import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import {
  type Announcement,
  announcementsIn,
  openAnnouncer,
  redisPlace,
} from '../../src/state/announcements.ts';
import { temporaryFolders } from '../support/temporary.ts';

const folderOf = temporaryFolders();

const at = (port: number): Announcement => ({
  url: `http://127.0.0.1:${port}`,
  token: `token ${port}`,
  certificates: [],
  redis: null,
});

test('a folder has the announcements of the gateways that run on it', () => {
  const folder = join(folderOf(), 'data');
  expect(announcementsIn(folder)).toEqual([]);
  const [first, second] = [openAnnouncer(folder), openAnnouncer(folder)];
  expect(announcementsIn(folder)).toEqual([]);
  first.announce(at(1));
  second.announce(at(2));
  expect(announcementsIn(folder)).toEqual([at(1), at(2)]);
  for (const name of readdirSync(folder))
    expect([name, statSync(join(folder, name)).mode & 0o777]).toEqual([name, 0o600]);
  first.announce(at(3));
  expect(announcementsIn(folder)).toEqual([at(3), at(2)]);
  first.close();
  expect(announcementsIn(folder)).toEqual([at(2)]);
  const third = openAnnouncer(folder);
  third.announce(at(4));
  expect(announcementsIn(folder)).toEqual([at(4), at(2)]);
  second.close();
  third.close();
  expect(announcementsIn(folder)).toEqual([]);
});

test.each([
  ['a crashed gateway', JSON.stringify(at(1)), false],
  ['a gateway that has not written all of it', '{"url":"http', true],
])('the announcement of %s does not count', (_, text, stays) => {
  const folder = folderOf();
  const file = join(folder, 'gateway.7.json');
  writeFileSync(file, text);
  expect(announcementsIn(folder)).toEqual([]);
  expect(existsSync(file)).toBe(stays);
});

test('a folder whose lock cannot be made is named', () => {
  const folder = folderOf();
  mkdirSync(join(folder, 'gateway.1.lock'));
  expect(() => openAnnouncer(folder)).toThrow(
    `cannot lock the data folder ${folder} with ${join(folder, 'gateway.1.lock')}`,
  );
});

test.each([
  ['redis://127.0.0.1', 'localhost:6379/0'],
  ['rediss://user:password@redis.example:6380/2', 'redis.example:6380/2'],
])('the place of %s is %s', (url, place) => {
  expect(redisPlace(url)).toBe(place);
});
