import { describe, expect, test } from '@jest/globals';
import type { KeyHeaders } from '../../../src/common/key-headers.ts';
import { createFieldNames, type FieldNamesOptions } from '../../../src/gateway/wire/fields.ts';
import { readHead } from '../../../src/gateway/wire/head.ts';
import { makeSecret } from '../../../src/records/keys/secret.ts';

const KEY = makeSecret('test');
const USUAL: KeyHeaders = { headers: ['X-API-Key'], bearer: true };
const HEADER: KeyHeaders = { headers: ['X-API-Key'], bearer: false };
const BEARER: KeyHeaders = { headers: [], bearer: true };
const OWN: KeyHeaders = { headers: ['X-Shop_Key', 'X-API-Key'], bearer: false };

const headWith = (options: Partial<FieldNamesOptions>, ...lines: readonly [string, string][]) =>
  readHead(lines.flat(), createFieldNames({ strip: [], ...options }));

describe('headers for the backend', () => {
  test.each<[string, KeyHeaders, [string, string][], string[]]>([
    ['a key', USUAL, [['X-API-Key', KEY]], []],
    ['a bearer token', USUAL, [['Authorization', 'Bearer own']], []],
    ['another scheme', USUAL, [['Authorization', 'Basic eDp5']], ['Authorization', 'Basic eDp5']],
    [
      'a bearer token of the backend',
      HEADER,
      [['Authorization', 'Bearer own']],
      ['Authorization', 'Bearer own'],
    ],
    ['a header that carries no key', BEARER, [['X-API-Key', 'own']], ['X-API-Key', 'own']],
    ['a key as a bearer token', HEADER, [['Authorization', `Bearer ${KEY}`]], []],
    ['a key without a scheme', HEADER, [['Authorization', `${KEY} `]], []],
    ['a key in another header', BEARER, [['X-API-Key', KEY]], []],
    [
      'the same imported key twice',
      HEADER,
      [
        ['X-API-Key', 'old'],
        ['Authorization', 'Bearer old'],
      ],
      [],
    ],
    [
      'the header of the document',
      OWN,
      [
        ['x-shop_key', 'a'],
        ['X-Shop-Key', 'b'],
        ['X-API-Key', 'c'],
      ],
      [],
    ],
  ])('%s', (_what, keyHeaders, lines, forwarded) => {
    expect(headWith({ keyHeaders }, ...lines).forwardable).toEqual(forwarded);
  });

  test('keep the key if settings say so', () => {
    const head = headWith(
      { keyHeaders: HEADER, hide: false },
      ['X-API-Key', KEY],
      ['Authorization', `Bearer ${KEY}`],
    );
    expect(head.forwardable).toEqual(['X-API-Key', KEY, 'Authorization', `Bearer ${KEY}`]);
  });

  test('have names that the contract checks in its spelling alone', () => {
    const checked = ['X-Tenant', 'x_region'];
    const lines = [
      'x-tenant',
      'X_Tenant',
      'X.Tenant',
      'X_Region',
      'X-Region',
      'X-Other',
      'X.Other',
    ];
    const pairs = lines.map((name) => [name, '1'] as [string, string]);
    const { forwardable } = headWith({ checked }, ...pairs);
    expect(forwardable.filter((_, i) => i % 2 === 0)).toEqual([
      'x-tenant',
      'X_Region',
      'X-Other',
      'X.Other',
    ]);
  });

  test('keep what the contract checks, whatever Connection names', () => {
    const checked = ['X-Tenant'];
    const kept = ['Content-Type', 'Content-Encoding', 'Cookie', 'X-Tenant'];
    const pairs = [...kept, 'X-Other'].map((name) => [name, '1'] as [string, string]);
    const connection = `close, ${[...kept, 'X-Other'].join(', ')}`;
    const { forwardable } = headWith({ checked }, ['Connection', connection], ...pairs);
    expect(forwardable.filter((_, i) => i % 2 === 0)).toEqual(kept);
  });

  test.each(['X-User', 'x-user', 'X_User', 'X.User', "X'User"])(
    'never have the identity that a client states: %s',
    (name) => {
      expect(headWith({ own: ['X-User'] }, [name, 'admin']).forwardable).toEqual([]);
    },
  );
});

test('keys are read from each key header, by its exact name', () => {
  const lines: [string, string][] = [
    ['X-Shop_Key', 'a'],
    ['x-api-key', 'b'],
    ['X-Shop-Key', 'c'],
  ];
  expect(headWith({ keyHeaders: OWN }, ...lines).apiKeys).toEqual(['a', 'b']);
  expect(headWith({ keyHeaders: BEARER }, ...lines).apiKeys).toEqual([]);
});

test('a large Authorization is read in linear time', () => {
  const value = `Bearer ${' '.repeat(32_000)}${'a'.repeat(32_000)} `;
  expect(headWith({ keyHeaders: HEADER }, ['Authorization', value]).forwardable).toEqual([
    'Authorization',
    value,
  ]);
  expect(headWith({ keyHeaders: USUAL }, ['Authorization', value]).forwardable).toEqual([]);
});
