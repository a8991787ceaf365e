import { describe, expect, test } from '@jest/globals';
import { CommandError } from '../../../src/cli/connect/api.ts';
import { type Format, formatOf, READERS } from '../../../src/cli/importing/formats.ts';
import type { Read } from '../../../src/cli/importing/rows.ts';

const SECRET = 'do-not-show-anybody';

async function rowsOf(format: Format, text: string | object): Promise<Read[]> {
  const bytes = Buffer.from(typeof text === 'string' ? text : JSON.stringify(text));
  const read = await READERS[format]();
  const rows: Read[] = [];
  for await (const row of read(async function* () {
    yield bytes;
  })) {
    rows.push(JSON.parse(JSON.stringify(row)));
  }
  return rows;
}

const listed = (rows: readonly Read[]) =>
  rows.map((row) => ('message' in row ? [row.at, row.field, row.message] : row));

test('finds the format by the name of the file', () => {
  expect(['keys.csv', '/a/b.NDJSON', 'x.jsonl'].map(formatOf)).toEqual(['csv', 'ndjson', 'ndjson']);
  for (const name of ['kong.yaml', 'keys.json', 'keys', '-'])
    expect(() => formatOf(name)).toThrow(CommandError);
});

describe('Kong', () => {
  const YAML = `_format_version: "3.0"
consumers:
- username: harry
  acls: [{ group: foo }]
  keyauth_credentials:
  - key: first
    tags: [internal]
  - key: second
- custom_id: "4711"
  keyauth_credentials: [{ key: third }]
- username: keyless
services: []
`;
  const KEYS = [
    { at: 'consumer 1, key 1', fields: { key: 'first', account: 'harry' } },
    { at: 'consumer 1, key 2', fields: { key: 'second', account: 'harry' } },
    { at: 'consumer 2, key 1', fields: { key: 'third', account: '4711' } },
  ];

  test('dumped by deck as YAML or JSON', async () => {
    expect(await rowsOf('kong', YAML)).toEqual(KEYS);
    const json = {
      consumers: [
        { username: 'harry', keyauth_credentials: [{ key: 'first' }, { key: 'second' }] },
        { custom_id: '4711', keyauth_credentials: [{ key: 'third' }] },
      ],
    };
    expect(await rowsOf('kong', json)).toEqual(KEYS);
  });

  test('a page of its admin API', async () => {
    const data = [
      {
        id: 'x',
        key: 'first',
        consumer: { id: 'f5cb8e2c-0a7e-4d8a-9d0b-2f3f5b6b7c8d' },
        ttl: null,
      },
    ];
    expect(await rowsOf('kong', { data, next: null })).toEqual([
      { at: 'entry 1', fields: { key: 'first', account: 'f5cb8e2c-0a7e-4d8a-9d0b-2f3f5b6b7c8d' } },
    ]);
  });

  test('reports keys that cannot be imported', async () => {
    const keys = [
      { key: SECRET, ttl: 60 },
      { key: `{vault://env/${SECRET}}` },
      { tags: [SECRET] },
      SECRET,
    ];
    const rows = listed(
      await rowsOf('kong', { consumers: [{ username: 'a', keyauth_credentials: keys }, SECRET] }),
    );
    expect(rows).toEqual([
      ['consumer 1, key 1', 'expires', expect.stringContaining('ttl without a creation time')],
      ['consumer 1, key 2', 'key', expect.stringContaining('reference to a vault')],
      ['consumer 1, key 3', 'key', 'has no key'],
      ['consumer 1, key 4', 'key', 'has no key'],
      ['consumer 2', null, 'is not a consumer'],
    ]);
    expect(JSON.stringify(rows)).not.toContain(SECRET);
  });
});

describe('Tyk', () => {
  const SESSION = {
    org_id: '5e9d9544a1dcd60001d0ed20',
    alias: 'mobile',
    expires: 1_896_048_000,
    is_inactive: true,
  };
  const line = (fields: object, session: object = SESSION) => ({ ...fields, session });
  const token = (id: string) =>
    Buffer.from(JSON.stringify({ org: SESSION.org_id, id, h: 'murmur64' })).toString('base64');

  test('keys that are hashed with SHA-256, and keys that are not hashed', async () => {
    const fields = {
      account: SESSION.org_id,
      label: 'mobile',
      disabled: true,
      expires: 1_896_048_000,
    };
    const hash = 'ab'.repeat(32);
    expect(await rowsOf('tyk', line({ hash }))).toEqual([
      { at: 'line 1', fields: { hash, ...fields } },
    ]);
    for (const key of [`${SESSION.org_id}${'0a'.repeat(16)}`, token('0a'.repeat(16)), 'eyes-only'])
      expect(await rowsOf('tyk', line({ key }))).toEqual([
        { at: 'line 1', fields: { key, ...fields } },
      ]);
    expect(await rowsOf('tyk', line({ hash }, { org_id: '', alias: '', expires: -1 }))).toEqual([
      { at: 'line 1', fields: { hash } },
    ]);
  });

  test.each([
    ['murmur32', line({ hash: 'ab'.repeat(4) }), 'hash', 'is murmur32'],
    ['murmur64', line({ hash: 'ab'.repeat(8) }), 'hash', 'is murmur64'],
    ['murmur128', line({ hash: 'ab'.repeat(16) }), 'hash', 'is murmur128'],
    ['a custom key', line({ key: token(SECRET) }), 'key', 'custom key'],
    [
      'basic auth',
      line({ key: SECRET }, { basic_auth_data: { password: SECRET } }),
      null,
      'a user with a password',
    ],
    ['JWT', line({ key: SECRET }, { jwt_data: { secret: SECRET } }), null, 'a secret for JWT'],
    [
      'HMAC',
      line({ key: SECRET }, { hmac_enabled: true, hmac_string: SECRET }),
      null,
      'a secret for HMAC',
    ],
    ['OAuth', line({ key: SECRET }, { oauth_client_id: SECRET }), null, 'a token of OAuth'],
    ['a session alone', { ...SESSION, alias: SECRET }, null, 'has no session'],
    ['no JSON', SECRET, null, 'is not a JSON object'],
  ])('%s is reported', async (_what, text, field, message) => {
    const rows = listed(await rowsOf('tyk', text));
    expect(rows).toEqual([['line 1', field, expect.stringContaining(message)]]);
    expect(JSON.stringify(rows)).not.toContain(SECRET);
  });
});

describe('APISIX', () => {
  const jack = {
    key: '/apisix/consumers/jack',
    value: {
      username: 'jack',
      desc: 'the first',
      plugins: { 'key-auth': { key: 'auth-one' }, 'limit-count': {} },
    },
  };
  const credential = {
    key: '/apisix/consumers/jill/credentials/two',
    value: { plugins: { 'key-auth': { key: 'auth-two' } } },
  };
  const jill = { key: '/apisix/consumers/jill', value: { username: 'jill' } };
  const KEYS = [
    { at: 'entry 1', fields: { key: 'auth-one', account: 'jack', label: 'the first' } },
    { at: 'entry 2', fields: { key: 'auth-two', account: 'jill' } },
  ];

  test('reads one or several responses of its admin API', async () => {
    expect(await rowsOf('apisix', { total: 3, list: [jack, credential, jill] })).toEqual(KEYS);
    const lines = [{ list: [jack] }, credential, jill]
      .map((one) => `${JSON.stringify(one)}\n`)
      .join('\n');
    expect(await rowsOf('apisix', lines)).toEqual(KEYS);
  });

  test('reports keys that cannot be imported', async () => {
    const entry = (key: unknown) => ({
      key: '/apisix/consumers/a',
      value: { plugins: { 'key-auth': { key } } },
    });
    const list = [
      entry(`$secret://vault/1/${SECRET}`),
      entry(`$ENV://${SECRET}`),
      entry(5),
      SECRET,
    ];
    const rows = listed(await rowsOf('apisix', { list }));
    expect(rows).toEqual([
      ['entry 1', 'key', expect.stringContaining('reference to a secret')],
      ['entry 2', 'key', expect.stringContaining('reference to a secret')],
      ['entry 3', 'key', 'has no key'],
      ['entry 4', null, 'is not a consumer or credential'],
    ]);
    expect(JSON.stringify(rows)).not.toContain(SECRET);
  });
});

describe('Unkey', () => {
  test('reads rows of its database, and entries of its API', async () => {
    const row = {
      hash: 'LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=',
      name: 'mobile',
      external_id: 'user_1',
      meta: '{"team":"pets","more":{"a":1},"n":5}',
      expires: 1_896_048_000_000,
      enabled: 0,
      pending_migration_id: null,
    };
    const entry = {
      keyId: 'key_1',
      start: 'sk_',
      plaintext: 'sk_123',
      enabled: true,
      identity: { id: 'id_1', externalId: 'user_2' },
    };
    expect(
      await rowsOf(
        'unkey',
        `${JSON.stringify(row)}\n${JSON.stringify(entry)}\n{"hash":"x","meta":""}`,
      ),
    ).toEqual([
      {
        at: 'line 1',
        fields: {
          hash: row.hash,
          label: 'mobile',
          account: 'user_1',
          metadata: { team: 'pets', more: '{"a":1}', n: '5' },
          expires: '2030-01-31T00:00:00.000Z',
          disabled: true,
        },
      },
      { at: 'line 2', fields: { key: 'sk_123', account: 'user_2', disabled: false } },
      { at: 'line 3', fields: { hash: 'x' } },
    ]);
  });

  test('leaves deeply nested metadata to the check', async () => {
    const deep = `{"hash":"x","meta":{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}}`;
    const read = await READERS.unkey();
    for await (const row of read(async function* () {
      yield Buffer.from(deep);
    })) {
      expect(row).toMatchObject({ at: 'line 1', fields: { metadata: { a: [expect.anything()] } } });
    }
  });

  test.each([
    [
      'an entry of the API without plaintext',
      { keyId: 'key_1', start: SECRET },
      'key',
      'has no hash or plaintext',
    ],
    [
      'a key of another system',
      { hash: SECRET, pending_migration_id: 'm' },
      'hash',
      'of the former system',
    ],
    ['a deleted key', { hash: SECRET, deleted_at_m: 5 }, null, 'was deleted'],
  ])('%s is reported', async (_what, line, field, message) => {
    const rows = listed(await rowsOf('unkey', line));
    expect(rows).toEqual([['line 1', field, expect.stringContaining(message)]]);
    expect(JSON.stringify(rows)).not.toContain(SECRET);
  });
});

test.each(['kong', 'apisix'] as const)(
  'a file other than %s is reported without its text',
  async (format) => {
    for (const text of [SECRET, `{"${SECRET}"`, `[${SECRET}`, `: ${SECRET}\n: : {`, '']) {
      const rows = await rowsOf(format, text);
      for (const row of rows) expect(row).toHaveProperty('message');
      expect(JSON.stringify(rows)).not.toContain(SECRET);
    }
  },
);
