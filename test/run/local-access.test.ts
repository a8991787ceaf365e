import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { Event } from '../../src/observe/events.ts';
import { LocalAccess } from '../../src/run/local-access.ts';
import { announcementsIn } from '../../src/state/announcements.ts';
import { temporaryFolders } from '../support/temporary.ts';

const folderOf = temporaryFolders();
const ADMIN = 'http://127.0.0.1:9901';

function accessTo(data: string) {
  const events: Event[] = [];
  const access = new LocalAccess({ data, redis: null }, (event) => void events.push(event));
  return { access, events };
}

test('a folder that cannot be used is reported, and commands then need a token', () => {
  const folder = join(folderOf(), 'file');
  writeFileSync(folder, '');
  const { access, events } = accessTo(folder);
  access.announce(ADMIN, { admin: null } as never);
  access.close();
  const warning = expect.stringMatching(/^commands need --url and a token, .*file/);
  expect(events).toEqual([{ type: 'state.warning', warning }]);
});

test('the token of each run is another one, and is withdrawn at its end', () => {
  const folder = folderOf();
  const [{ access: first }, { access: second }] = [accessTo(folder), accessTo(folder)];
  first.announce(ADMIN, { admin: null } as never);
  second.announce(ADMIN, { admin: null } as never);
  const tokens = announcementsIn(folder).map(({ token }) => token);
  expect(tokens).toEqual([first.token, second.token]);
  expect(first.token).not.toBe(second.token);
  first.close();
  second.close();
  expect(announcementsIn(folder)).toEqual([]);
});
