import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { readKey } from '../../../src/cli/importing/key-fields.ts';
import type { Fields } from '../../../src/cli/importing/rows.ts';
import { hashSecret } from '../../../src/records/keys/secret.ts';

const SECRET = 'do-not-show-anybody';
const digest = (encoding: 'hex' | 'base64' | 'base64url') =>
  createHash('sha256').update(SECRET).digest(encoding);
const GOOD: Fields = { hash: digest('hex'), plan: 'free', account: 'acme' };
const bodyOf = (fields: Fields) => {
  const read = readKey({ ...GOOD, ...fields }, {});
  if (Array.isArray(read)) throw new Error(JSON.stringify(read));
  return read.body;
};

test.each([
  ['hexadecimal', digest('hex')],
  ['capital hexadecimal', digest('hex').toUpperCase()],
  ['base64', digest('base64')],
  ['base64 without its end', digest('base64').replace('=', '')],
  ['base64url', digest('base64url')],
  ['a prefix', `sha256:${digest('hex')}`],
  ['a prefix of another kind', `SHA-256=${digest('base64')}`],
  ['the prefix of integrity metadata', `sha256-${digest('base64')}`],
])('a hash in %s is one hash', (_form, hash) => {
  expect(bodyOf({ hash }).hash).toBe(hashSecret(SECRET));
});

test('hashes a secret', () => {
  const read = readKey({ key: SECRET, plan: 'free', account: 'acme' }, {});
  expect(read).toEqual({
    body: { hash: hashSecret(SECRET), plan: 'free', account: 'acme' },
    hadSecret: true,
  });
  expect(readKey(GOOD, {})).toMatchObject({ hadSecret: false });
  expect(readKey({ ...GOOD, key: SECRET }, {})).toMatchObject({ hadSecret: true });
});

test('uses plan and account of the options for absent fields and null', () => {
  const defaults = { plan: 'pro', account: 'other' };
  expect(readKey({ ...GOOD, plan: null }, defaults)).toMatchObject({
    body: { plan: 'pro', account: 'acme' },
  });
  const empty = {
    key: '',
    label: '',
    limits: null,
    expires: null,
    addresses: [],
    scopes: [],
    apis: [],
    metadata: null,
    disabled: null,
  };
  expect(bodyOf(empty)).toEqual({ hash: hashSecret(SECRET), plan: 'free', account: 'acme' });
});

test.each([
  ['RFC 3339', '2030-01-31T00:00:00Z', '2030-01-31T00:00:00.000Z'],
  ['RFC 3339 in another zone', '2030-01-31T01:00:00.5+01:00', '2030-01-31T00:00:00.500Z'],
  ['Unix seconds', 1_896_048_000, '2030-01-31T00:00:00.000Z'],
  ['the digits of Unix seconds', '1896048000', '2030-01-31T00:00:00.000Z'],
  ['Unix milliseconds', 1_896_048_000_123, '2030-01-31T00:00:00.123Z'],
  ['the digits of Unix milliseconds', '1896048000123', '2030-01-31T00:00:00.123Z'],
  ['the last number of seconds', '99999999999', '5138-11-16T09:46:39.000Z'],
  ['the first number of milliseconds', '100000000000', '1973-03-03T09:46:40.000Z'],
])('an expiry in %s', (_form, expires, time) => {
  expect(bodyOf({ expires }).expires).toBe(time);
});

test('normalizes limits', () => {
  expect(bodyOf({ limits: ' 100/day , 5/minute ' }).limits).toBe('5/minute,100/day');
});

describe('a mistake is reported with its field, without the value:', () => {
  test.each([
    ['a hash of another kind', { hash: 'a'.repeat(32) }, 'hash', 'not a SHA-256'],
    [
      'a longer hash with the prefix of another',
      { hash: `sha512:${'a'.repeat(128)}` },
      'hash',
      'not a SHA-256',
    ],
    ['base64 with bits too many', { hash: `${'A'.repeat(42)}B` }, 'hash', 'not a SHA-256'],
    ['a hash that is a number', { hash: 5 }, 'hash', 'not a SHA-256'],
    ['a key beside the hash of another', { key: 'another' }, 'hash', 'not the hash of the key'],
    ['a key that is too long', { key: 'x'.repeat(513) }, 'key', 'visible ASCII characters'],
    ['a key with a control character', { key: 'a\nb' }, 'key', 'visible ASCII characters'],
    ['a key that is not text', { key: { SECRET } }, 'key', 'visible ASCII characters'],
    ['a plan that is not text', { plan: [SECRET] }, 'plan', 'is not text'],
    ['a plan that is too long', { plan: 'x'.repeat(65) }, 'plan', 'longer than 64'],
    ['an account that is a path', { account: `../${SECRET}` }, 'account', 'an account is'],
    ['a label that is too long', { label: 'x'.repeat(201) }, 'label', 'at most 200'],
    ['invalid limits', { limits: SECRET }, 'limits', 'one to 16 limits'],
    ['limits that are a number', { limits: 60 }, 'limits', 'one to 16 limits'],
    ['an expiry in words', { expires: `next ${SECRET}` }, 'expires', 'not a time'],
    ['an expiry without a zone', { expires: '2030-01-31T00:00:00' }, 'expires', 'not a time'],
    ['an expiry on an invalid day', { expires: '2030-02-30T00:00:00Z' }, 'expires', 'not a time'],
    ['an expiry before 1970', { expires: -1 }, 'expires', 'not a time'],
    ['an expiry with a fraction', { expires: 1.5 }, 'expires', 'not a time'],
    ['an expiry beyond the calendar', { expires: '999999999999999' }, 'expires', 'not a time'],
    [
      'an invalid address',
      { addresses: ['::1', SECRET] },
      'addresses',
      'address 2 is not an address',
    ],
    ['addresses too many', { addresses: Array(101).fill('::1') }, 'addresses', 'at most 100'],
    ['addresses outside a list', { addresses: '::1' }, 'addresses', 'not a list'],
    [
      'an invalid scope',
      { scopes: ['a', `${SECRET} b`] },
      'scopes',
      'scope 2 is not a valid scope name',
    ],
    ['a scope twice', { scopes: ['a', 'b', 'a'] }, 'scopes', 'scope 3 is there before'],
    [
      'scopes too many',
      { scopes: Array.from({ length: 33 }, (_, i) => `s${i}`) },
      'scopes',
      'at most 32',
    ],
    ['scopes outside a list', { scopes: 'a' }, 'scopes', 'not a list'],
    ['APIs outside a list', { apis: 'notes' }, 'apis', 'not a list'],
    ['an API twice', { apis: ['a', 'a'] }, 'apis', 'up to 100 names of APIs'],
    [
      'APIs too many',
      { apis: Array.from({ length: 101 }, (_, i) => `a${i}`) },
      'apis',
      'up to 100',
    ],
    ['metadata that is a list', { metadata: [SECRET] }, 'metadata', 'not an object'],
    [
      'metadata with a number',
      { metadata: { a: 1 } },
      'metadata',
      'not an object with text values',
    ],
    [
      'metadata with a bad name',
      { metadata: { [`${SECRET}!`]: '' } },
      'metadata',
      'names are up to 64',
    ],
    [
      'metadata with __proto__',
      { metadata: JSON.parse('{"__proto__":"x"}') },
      'metadata',
      'names are up to 64',
    ],
    [
      'metadata too much',
      { metadata: Object.fromEntries([...Array(21)].map((_, i) => [`a${i}`, ''])) },
      'metadata',
      '20',
    ],
    ['disabled in words', { disabled: 'yes' }, 'disabled', 'is not true or false'],
  ] as [string, Fields, string, string][])('%s', (_what, fields, field, message) => {
    const read = readKey({ ...GOOD, ...fields }, {});
    expect(read).toEqual([{ field, message: expect.stringContaining(message) }]);
    expect(JSON.stringify(read)).not.toContain(SECRET);
  });

  test('several mistakes and missing fields', () => {
    const read = readKey({ limits: 'x', disabled: 1 }, {});
    const fields = Array.isArray(read) ? read.map(({ field }) => field) : [];
    expect(fields.sort()).toEqual(['account', 'disabled', 'hash', 'limits', 'plan']);
  });
});
