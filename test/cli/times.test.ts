import { afterAll, describe, expect, test } from '@jest/globals';
import type { Command, Option } from 'commander';
import { adminContract } from '../../src/admin/api.ts';
import { createProgram } from '../../src/cli/run.ts';
import { makeSecret } from '../../src/records/keys/secret.ts';
import { adminOf } from '../support/admin.ts';
import { commandLine, terminalIn } from '../support/command-line.ts';
import { TestGateway } from '../support/gateway.ts';
import { temporaryFolders } from '../support/temporary.ts';

const TOKEN = makeSecret('admin');
const folder = temporaryFolders();
/** Others: test/config/moments.test.ts. */
const WRONG = ['yesterday', '2026-02-30', '2026-02-30T00:00:00Z'];

function timesOf(command: Command, name = ''): [name: string, option: Option][] {
  const own = command.options
    .filter(({ flags }) => /<(?:time|month)>/.test(flags))
    .map((option): [string, Option] => [name, option]);
  return [
    ...own,
    ...command.commands.flatMap((inner) => timesOf(inner, `${name} ${inner.name()}`.trim())),
  ];
}
const options = timesOf(createProgram(terminalIn('.')));

/** Paths and query parameters of times. */
const PARAMETERS = [
  ['/usage/report', 'from'],
  ['/usage/report', 'to'],
  ['/ban-history', 'since'],
  ['/requests', 'since'],
  ['/requests', 'until'],
  ['/audit', 'since'],
] as const;

const gateway = await TestGateway.start({ env: { STOREGATE_ADMIN_TOKEN: TOKEN } });
afterAll(() => gateway.stop());

const run = (args: readonly string[]) =>
  commandLine(folder())(args, {
    env: { STOREGATE_ADMIN_URL: gateway.adminUrl, STOREGATE_ADMIN_TOKEN: TOKEN },
  });

describe('a time that is wrong', () => {
  test.each(options)('is refused by "%s" in its option, and named', async (command, option) => {
    for (const value of WRONG) {
      const { code, out, err } = await run([...command.split(' '), option.long!, value]);
      const isDate = value === '2026-02-30' ? /is invalid/ : /is invalid\. \S/;
      expect({ value, code, out }).toEqual({ value, code: 2, out: '' });
      expect(err).toContain(`option '${option.flags}' argument '${value}' `);
      expect(err).toMatch(isDate);
    }
  });

  test('is looked for in all options', () => {
    expect(options.map(([name, { long }]) => `${name} ${long}`).sort()).toEqual([
      'audit export --since',
      'bans add --duration',
      'bans extend --duration',
      'bans history --since',
      'keys create --expires',
      'keys create --expires-in',
      'keys import --expires',
      'keys import --expires-in',
      'keys rotate --overlap',
      'keys update --expires',
      'keys update --expires-in',
      'requests --since',
      'requests --until',
      'usage report --from',
      'usage report --month',
      'usage report --to',
    ]);
  });

  test.each(PARAMETERS)('is refused by %s in %s, and named', async (path, name) => {
    const admin = adminOf(gateway.adminUrl, { Authorization: `Bearer ${TOKEN}` });
    for (const value of WRONG) {
      const { status, body } = await admin('GET', `${path}?${name}=${encodeURIComponent(value)}`);
      expect({ value, status }).toEqual({ value, status: 400 });
      expect(body.details).toMatchObject([{ in: 'query', pointer: expect.stringContaining(name) }]);
    }
  });

  test('is refused in a body, and named', async () => {
    const admin = adminOf(gateway.adminUrl, { Authorization: `Bearer ${TOKEN}` });
    for (const expires of WRONG) {
      const key = { plan: 'free', account: 'acme', expires };
      const { status, body } = await admin('POST', '/keys', key);
      expect({ expires, status }).toEqual({ expires, status: 400 });
      expect(body.details).toMatchObject([{ in: 'body', pointer: '/expires' }]);
    }
  });
});

test('the parameters of times are all of the admin API', () => {
  const { paths } = adminContract().document as unknown as { paths: object };
  const found = Object.entries(paths).flatMap(([path, { get }]) =>
    ((get?.parameters ?? []) as { name: string; schema?: { format?: string } }[])
      .filter(({ name, schema }) => schema?.format === 'date-time' || ['from', 'to'].includes(name))
      .map(({ name }) => [path, name]),
  );
  expect(found.sort()).toEqual(PARAMETERS.map((one) => [...one]).sort());
});

/** One report each; `null`: it is answered. */
test.each<[args: string, problem: RegExp | null]>([
  [
    '--from 2026-12-01T00:00:00+05:30',
    /'--from <time>'.*whole hour of UTC.*30T18:00:00Z or .*30T19:00:00Z/,
  ],
  ['--from 2020-01-01 --to 2020-01-01T10:30:00Z', /'--to <time>'.*T10:00:00Z or .*T11:00:00Z/],
  ['--from 2020-01-02 --to 2020-01-01', /'--to <time>'.*later than from/],
  ['--from 2020-01-02 --to 2020-01-02', /'--to <time>'.*later than from/],
  ['--from 2020-01-02 --month 2020-01', /'--month <month>' cannot be used with .*'--from <time>'/],
  ['--to 2020-01-02 --month 2020-01', /'--month <month>' cannot be used with .*'--to <time>'/],
  ['--from 9000-01-01', /'--from <time>'.*in the past/],
  ['--month 2020-13', /'--month <month>' argument '2020-13' is invalid/],
  ['--from 2020-01-01 --to 2020-02-01', null],
  ['--from 2020-01-01T05:00:00Z --to 2020-01-01T07:00:00+01:00', null],
  ['--from 2020-01-01T05:30:00+05:30', null],
])('usage report %s', async (args, problem) => {
  const { code, err } = await run(['usage', 'report', ...args.split(' ')]);
  expect({ code, err }).toEqual({
    code: problem === null ? 0 : 2,
    err: problem === null ? '' : expect.stringMatching(problem),
  });
});
