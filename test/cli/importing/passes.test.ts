import { expect, test } from '@jest/globals';
import type { ManyImportedKeys } from '@storegate/admin-api';
import { CommandError } from '../../../src/cli/connect/api.ts';
import { sendKeys } from '../../../src/cli/importing/passes.ts';
import type { Read } from '../../../src/cli/importing/rows.ts';

function apiOf(response: (call: number, body: ManyImportedKeys) => object) {
  const bodies: ManyImportedKeys[] = [];
  return {
    bodies,
    async importMany(body: ManyImportedKeys) {
      bodies.push(body);
      return {
        dryRun: false,
        imported: body.keys.length,
        already: 0,
        bad: [],
        ...response(bodies.length, body),
      };
    },
  };
}

function* keys(count: number, more: object = {}): Generator<Read> {
  for (let i = 1; i <= count; i++) yield { line: i, fields: { key: `key-${i}`, ...more } };
}

const DEFAULTS = { plan: 'pro', account: 'acme' };

test('sends up to 250 keys per call, and fewer large ones', async () => {
  const api = apiOf(() => ({}));
  expect(await sendKeys(api.importMany, keys(600), DEFAULTS, {})).toMatchObject({
    imported: 600,
    bad: 0,
    hadSecrets: true,
  });
  expect(api.bodies.map((body) => body.keys.length)).toEqual([250, 250, 100]);

  const metadata = Object.fromEntries(
    Array.from({ length: 20 }, (_, i) => [`m${'x'.repeat(60)}${i}`, '\u0001'.repeat(500)]),
  );
  const largest = {
    metadata,
    label: 'ä'.repeat(200),
    scopes: Array.from({ length: 32 }, (_, i) => `${'x'.repeat(62)}${i + 10}`),
    addresses: Array(100).fill('1111:2222:3333:4444:5555:6666:7777:8888/128'),
  };
  const large = apiOf(() => ({}));
  await sendKeys(large.importMany, keys(10, largest), DEFAULTS, { dryRun: true });
  expect(large.bodies.length).toBeGreaterThan(1);
  for (const body of large.bodies)
    expect(Buffer.byteLength(JSON.stringify(body))).toBeLessThan(262_144);
});

test('reports problems in the order of the file', async () => {
  const api = apiOf((_, body) => ({
    imported: body.keys.length - 2,
    bad: [
      { index: 0, field: 'plan', message: 'one' },
      { index: 0, field: 'limits', message: 'two' },
      { index: 2, field: 'plan', message: 'three' },
    ],
  }));
  const rows: Read[] = [
    ...keys(2),
    { line: 3, field: null, message: 'unreadable' },
    { line: 4, fields: { key: 'another' } },
    { line: 5, fields: { key: 'another' } },
  ];
  const { problems, ...counts } = await sendKeys(api.importMany, rows, DEFAULTS, {
    skipBad: true,
  });
  expect(problems.map(({ line, message }) => `${line} ${message}`)).toEqual([
    '1 one',
    '1 two',
    '3 unreadable',
    '4 three',
    '5 is the same key as line 4',
  ]);
  expect(counts).toMatchObject({ imported: 1, bad: 4, moreProblems: 0 });
});

test('a failed call reports its place and what to do', async () => {
  const api = apiOf((call) => {
    if (call === 3)
      throw new CommandError('The state cannot be reached: try again later.', { failure: 'shut' });
    return {};
  });
  const failed = await sendKeys(api.importMany, keys(650), DEFAULTS, {}).catch(
    (error: unknown) => error,
  );
  expect(failed).toBeInstanceOf(CommandError);
  expect(failed).toMatchObject({
    failure: 'shut',
    message:
      'The state cannot be reached: try again later. The import stopped at lines 501 to 650 after 500 keys. Run the command again to continue.',
  });
});

test('a failed check reports only its reason', async () => {
  const api = apiOf(() => {
    throw new CommandError('No gateway is running.');
  });
  await expect(sendKeys(api.importMany, keys(1), DEFAULTS, { dryRun: true })).rejects.toThrow(
    /^No gateway is running\.$/,
  );
});

test('a file without keys makes no call', async () => {
  const api = apiOf(() => ({}));
  expect(await sendKeys(api.importMany, keys(0), DEFAULTS, {})).toMatchObject({
    imported: 0,
    bad: 0,
  });
  expect(api.bodies).toEqual([]);
});
