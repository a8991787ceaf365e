import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { type OutputOptions, Page } from '../../src/cli/output.ts';
import { type CommandLine, commandLine } from '../support/command-line.ts';
import { temporaryFolders } from '../support/temporary.ts';

const folder = temporaryFolders({ keep: true });
const NOW = Date.now();
const AT = new Date(NOW - 3 * 60_000 - 10_000).toISOString();

const page = (options: OutputOptions = {}, width?: number) =>
  new Page({ isTerminal: width !== undefined, env: { NO_COLOR: '1' }, width }, options);

describe('a table', () => {
  const rows = [{ id: 'key_1', created: AT, label: 'a long label of a key' }];
  const columns = ['id', 'created', 'label'] as const;

  test('has relative times, or full times with --absolute', () => {
    expect(page().table(columns, rows)).toBe(
      'id     created    label\nkey_1  3m 10s ago  a long label of a key\n'.replace(
        'created   ',
        'created    ',
      ),
    );
    expect(page({ absolute: true }).table(columns, rows)).toContain(`  ${AT}  `);
  });

  test('is cut to the width of a terminal, except ids, and never in a pipe', () => {
    const cut = page({}, 32).table(columns, rows).split('\n');
    expect(cut.slice(0, -1).map((line) => line.length <= 32)).toEqual([true, true]);
    expect(cut[1]).toMatch(/^key_1 .*…$/);
    expect(page({}, 3).table(['id'], rows)).toBe('id\nkey_1\n');
    expect(page().table(columns, rows)).not.toContain('…');
  });

  test('writes names of fields as words', () => {
    expect(page().table(['lastUsed'], [{ lastUsed: null }])).toBe('last used\n-\n');
  });
});

describe('the result of a command', () => {
  let run: CommandLine;
  beforeAll(() => {
    run = commandLine(folder());
  });

  test('is a sentence if a list is empty', async () => {
    expect((await run(['keys', 'list'])).out).toBe('No keys.\n');
    expect((await run(['bans', 'list'])).out).toBe('No bans.\n');
    expect((await run(['tokens', 'list'])).out).toBe('No tokens.\n');
    expect((await run(['keys', 'list', '--json'])).out).toBe('[]\n');
  });

  test('is the same with --json and with -o json', async () => {
    const { id } = JSON.parse(
      (await run(['keys', 'create', '--plan', 'free', '--account', 'acme', '--json'])).out,
    );
    const json = JSON.parse((await run(['keys', 'list', '--json'])).out);
    expect(json).toMatchObject([{ id, created: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) }]);
    expect(JSON.parse((await run(['keys', 'list', '-o', 'json'])).out)).toEqual(json);
    expect(JSON.parse((await run(['-o', 'json', 'keys', 'list'])).out)).toEqual(json);
  });

  test('has no notes with --quiet', async () => {
    const key = (await run(['keys', 'create', '--plan', 'free', '--account', 'quiet', '-q'])).out;
    expect(key).toMatch(/^sg_live_\S+\n$/);
    const [{ id }] = JSON.parse((await run(['keys', 'list', '--account', 'quiet', '--json'])).out);
    expect(await run(['keys', 'disable', id, '-q'])).toEqual({ code: 0, out: '', err: '' });
  });

  test('is refused in a format that the command does not have', async () => {
    expect(await run(['keys', 'list', '-o', 'csv'])).toMatchObject({
      code: 2,
      err: 'Only "usage report" has "-o csv".\n',
    });
    expect(await run(['keys', 'list', '-o', 'xml'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('table, json, csv'),
    });
  });

  test('is the version with --version', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
    expect((await run(['--version'])).out).toBe(`${version}\n`);
  });

  test('of check is JSON for programs', async () => {
    expect(JSON.parse((await run(['check', '--json'])).out)).toMatchObject({
      operations: 17,
      notEnforced: 0,
    });
  });
});

describe('a command', () => {
  test('explains what a request id is', async () => {
    const { code, err } = await commandLine(folder())(['explain', 'abc']);
    expect(code).toBe(2);
    expect(err).toMatch(
      /^"abc" is not a request id: use the header X-Request-Id .* "storegate requests"\.\n$/,
    );
  });

  test.each(['keys', 'accounts', 'bans', 'usage', 'plans', 'audit', 'tokens', 'webhooks', 'state'])(
    '%s shows an example in its help',
    async (group) => {
      expect((await commandLine(folder())([group, '--help'])).out).toMatch(
        new RegExp(`Examples?:\n  \\$ storegate ${group} `),
      );
    },
  );

  test('points to its own help after an error', async () => {
    const { code, err } = await commandLine(folder())(['keys', 'create']);
    expect({ code, err }).toEqual({
      code: 2,
      err: expect.stringContaining("Run 'storegate keys create --help' for usage."),
    });
  });
});
