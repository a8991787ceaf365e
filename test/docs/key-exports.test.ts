import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { program } from '../runner/programs.ts';
import { commandLine } from '../support/command-line.ts';
import { blocksOf } from '../support/shell-pages.ts';
import { temporaryFolders } from '../support/temporary.ts';

const PAGE = readFileSync(resolve(import.meta.dirname, '../../docs/import-keys.md'), 'utf8');
const folder = temporaryFolders();
const sha256 = (text: string) => createHash('sha256').update(text).digest('base64');
const tykToken = (id: string) =>
  Buffer.from(JSON.stringify({ org: '5e9d95', id, h: 'murmur64' })).toString('base64');
const apisix = (path: string, value: object) => ({ key: `/apisix/consumers/${path}`, value });

/** The file that the lines of the page read, its content, and what the import makes of it. */
const EXPORTS = [
  {
    system: 'Kong',
    file: 'kong.json',
    documents: [
      {
        _format_version: '3.0',
        consumers: [
          {
            username: 'harry',
            acls: [{ group: 'foo' }],
            keyauth_credentials: [{ key: 'first', tags: ['internal'] }, { key: 'second' }],
          },
          { custom_id: '4711', keyauth_credentials: [{ key: 'third' }] },
          { username: 'keyless' },
          {
            username: 'other',
            keyauth_credentials: [{ key: 'hidden', ttl: 60 }, { key: '{vault://env/hidden}' }],
          },
        ],
        services: [],
      },
    ],
    keys: { first: { account: 'harry' }, second: { account: 'harry' }, third: { account: '4711' } },
    bad: ['4 hash', '5 hash'],
  },
  {
    system: 'Tyk',
    file: 'tyk.json',
    documents: [
      {
        hash: createHash('sha256').update('hashed').digest('hex'),
        org_id: '5e9d95',
        alias: 'mobile',
        expires: 4_102_444_800,
        is_inactive: true,
      },
      { key: `5e9d95${'0a'.repeat(16)}`, org_id: '5e9d95', alias: '', expires: 0 },
      { key: tykToken('0a'.repeat(16)), org_id: '5e9d95', expires: -1 },
      { key: 'eyes-only', org_id: '' },
      { key: tykToken('hidden'), org_id: '5e9d95' },
      { hash: 'ab'.repeat(8), org_id: '5e9d95' },
      { key: 'hidden', basic_auth_data: { password: 'hidden' } },
      { key: 'hidden', jwt_data: { secret: 'hidden' } },
      { key: 'hidden', hmac_enabled: true, hmac_string: 'hidden' },
      { key: 'hidden', oauth_client_id: 'hidden' },
    ],
    keys: {
      hashed: {
        account: '5e9d95',
        label: 'mobile',
        status: 'disabled',
        expires: '2100-01-01T00:00:00.000Z',
      },
      [`5e9d95${'0a'.repeat(16)}`]: { account: '5e9d95', label: null, expires: null },
      [tykToken('0a'.repeat(16))]: { account: '5e9d95', expires: null },
      'eyes-only': { account: 'default' },
    },
    bad: ['5 hash', '6 hash'],
  },
  {
    system: 'APISIX',
    file: 'apisix.json',
    documents: [
      {
        total: 2,
        list: [
          apisix('jack', {
            username: 'jack',
            desc: 'the first',
            plugins: { 'key-auth': { key: 'auth-one' }, 'limit-count': {} },
          }),
          apisix('jill', { username: 'jill' }),
        ],
      },
      {
        total: 3,
        list: [
          apisix('jill/credentials/two', { plugins: { 'key-auth': { key: 'auth-two' } } }),
          apisix('a/credentials/1', { plugins: { 'key-auth': { key: '$secret://vault/hidden' } } }),
          apisix('a/credentials/2', { plugins: { 'key-auth': { key: '$ENV://hidden' } } }),
        ],
      },
    ],
    keys: {
      'auth-one': { account: 'jack', label: 'the first' },
      'auth-two': { account: 'jill', label: null },
    },
    bad: ['3 hash', '4 hash'],
  },
  {
    system: 'Unkey',
    file: 'unkey.json',
    documents: [
      {
        hash: sha256('hashed'),
        name: 'mobile',
        external_id: 'user_1',
        meta: '{"team":"pets","more":{"a":1},"n":5}',
        expires: 4_102_444_800_000,
        enabled: 0,
        pending_migration_id: null,
      },
      { plaintext: 'sk_123', enabled: true, identity: { id: 'id_1', externalId: 'user_2' } },
      { hash: sha256('bare'), meta: '', enabled: 1 },
      { keyId: 'key_1', start: 'hidden' },
      { hash: sha256('hidden'), pending_migration_id: 'm' },
    ],
    keys: {
      hashed: {
        account: 'user_1',
        label: 'mobile',
        metadata: { team: 'pets', more: '{"a":1}', n: '5' },
        expires: '2100-01-01T00:00:00.000Z',
        status: 'disabled',
      },
      sk_123: { account: 'user_2', status: 'active' },
      bare: { account: 'default', metadata: {}, status: 'active' },
    },
    bad: ['4 hash', '5 hash'],
  },
];

test.each(EXPORTS)(
  'the line of the page imports keys of $system, and reports the others',
  async ({ system, file, documents, keys, bad }) => {
    program('jq');
    const cwd = folder();
    const run = commandLine(cwd);
    writeFileSync(join(cwd, file), documents.map((one) => `${JSON.stringify(one)}\n`).join(''));
    const block = blocksOf(PAGE).find(
      ({ heading, text }) => heading === system && text.startsWith(`jq -c '`),
    )!;
    const [jq] = block.text.split('\nnpx ', 1);
    execFileSync('bash', ['-e', '-c', jq!], { cwd });

    const all = [
      'keys',
      'import',
      '--file',
      'keys.ndjson',
      '--plan',
      'pro',
      '--account',
      'default',
    ];
    const { out, err } = await run([...all, '--skip-bad', '--json']);
    const { imported, problems } = JSON.parse(out);
    expect(
      problems.map((one: { line: number; field: string }) => `${one.line} ${one.field}`),
    ).toEqual(bad);
    expect(imported).toBe(Object.keys(keys).length);
    expect(err).not.toContain('hidden');
    for (const [secret, fields] of Object.entries(keys))
      expect(JSON.parse((await run(['keys', 'identify', secret, '--json'])).out)).toMatchObject(
        fields,
      );
  },
);
