import { connect } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from '@jest/globals';
import { plainReason } from '../../../src/common/errors/plain-reason.ts';
import { DeadlineError } from '../../../src/state/shared/deadline.ts';
import { freePort } from '../../support/free-port.ts';

const errno = (code: string) => Object.assign(new Error(`connect ${code} ::1`), { code });

test.each([
  [errno('ECONNREFUSED'), 'the connection is refused'],
  [errno('ENOSPC'), 'the disk is full'],
  [new Error('database or disk is full'), 'the disk is full'],
  [new Error('disk I/O error'), 'the disk reports an error'],
  [new Error('attempt to write a readonly database'), 'the disk is read-only'],
  [
    new Error("Stream isn't writeable and enableOfflineQueue options is false"),
    'the connection was closed',
  ],
  [new Error('Connection is closed.'), 'the connection was closed'],
  [new Error('Command timed out'), 'no response in time'],
  [new Error('it does not respond'), 'no response in time'],
  [new Error('Unknown RESP type 72 "H". Please report this.'), 'what responds is not Redis'],
  [new DeadlineError(50), 'no response in time'],
  [new Error('WRONGPASS invalid username-password pair'), 'the user or password is refused'],
  [new Error('fetch failed', { cause: errno('ENOTFOUND') }), 'the host name is unknown'],
  ["READONLY You can't write against a read only replica.", 'Redis is a read-only replica'],
  [new TypeError('x is not a function'), 'the log has the error'],
])('%s: %s', (error, words) => {
  expect(plainReason(error)).toBe(words);
});

test('errors of the system have words', async () => {
  const port = await freePort();
  const error = await new Promise((resolve) => connect(port, '127.0.0.1').on('error', resolve));
  expect(plainReason(error)).toBe('the connection is refused');
  expect(() => new DatabaseSync('/nowhere/x.db')).toThrow();
  try {
    new DatabaseSync('/nowhere/x.db').close();
  } catch (failure) {
    expect(plainReason(failure)).toBe('a file or folder is missing');
  }
});
