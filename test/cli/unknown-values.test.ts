import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, test } from '@jest/globals';
import type { Json } from '@storegate/openapi';
import type { Command, Option } from 'commander';
import { adminContract } from '../../src/admin/api.ts';
import { createProgram } from '../../src/cli/run.ts';
import { CATALOGUE } from '../../src/common/errors/catalogue.ts';
import { makeSecret } from '../../src/records/keys/secret.ts';
import { AUDIT_ACTIONS } from '../../src/records/operators/audit-log.ts';
import { commandLine, terminalIn } from '../support/command-line.ts';
import { TestGateway } from '../support/gateway.ts';
import { temporaryFolders } from '../support/temporary.ts';

const TOKEN = makeSecret('admin');
const PLANS = ['free', 'pro', 'business', 'enterprise'];
const CODES = Object.keys(CATALOGUE);
const folder = temporaryFolders();

/** Names that must exist, and what the refusal lists. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  'requests --api': ['Known APIs: none.'],
  'requests --code': CODES,
  'keys create --plan': PLANS,
  'keys list --plan': PLANS,
  'keys list --scope': ['none'],
  'keys list --api': ['Known APIs: none.'],
  'keys update --plan': PLANS,
  'keys import --plan': PLANS,
  'usage grant --window': ['minute', 'day'],
  'plans simulate --drop': ['minute', 'day'],
  'plans set --drop': ['minute', 'day'],
  'audit list --action': AUDIT_ACTIONS,
  'top --api': ['Known APIs: none.'],
  'usage report --api': ['Known APIs: none.'],
  'usage report --by': ['day', 'code'],
  'usage report --operation': ['listPets', 'createPet', 'usage', 'reference'],
  'usage report --plan': [...PLANS, 'public'],
  'webhooks test --endpoint': ['none'],
};

/** What an operator chooses freely, or what only stored records have. */
const FREE =
  /^(?:url|token|profile|backend|contract|directory|host|name|path|file|key|account|label|find|address|scope|meta|reason|idempotency-key|actor|target|allow|deny|from|to|after|hash|status)$/;

/** Commands that call no gateway. */
const LOCAL = /^(?:init|serve|store|check|completion|help|state\b.*|)$/;

/** Options for which any text is a value. */
const ANY = new Set([
  'keys import --file',
  'keys list --account',
  'keys list --label',
  'keys list --find',
  'usage report --account',
  'usage report --key',
  'audit list --actor',
  'audit list --target',
  'requests --key',
  'requests --account',
  'requests --after',
]);

/** By the option, or by command and option. */
const INVALID: Readonly<Record<string, string>> = {
  '--account': 'a b',
  '--add-scope': 'a b',
  '--address': '300.1.1.1',
  '--after': 'first',
  '--allow': '300.1.1.1',
  '--api': 'notes',
  '--below': 'first',
  '--concurrency': 'many',
  '--deny': '10.0.0.1/8',
  '--duration': 'long',
  '--env': 'LIVE',
  '--expires': 'tomorrow',
  '--expires-in': 'soon',
  '--from': '2026-13-01',
  '--hash': 'abc',
  '--idempotency-key': 'short',
  '--label': 'x'.repeat(201),
  '--limit': '0',
  '--limits': '5/fortnight',
  '--meta': 'x y=1',
  '--month': '2026-13',
  '--overlap': 'long',
  '--reason': 'x'.repeat(501),
  '--remove-scope': 'x'.repeat(65),
  '--scope': 'a b',
  '--since': 'yesterday',
  '--status': '600',
  '--to': '2026-13-01',
  '--units': '0',
  '--until': 'yesterday',
  '--weight': '0',
  '--workers': 'many',
};

/** A call with the arguments and mandatory options that the command needs. */
const CALLS: Readonly<Record<string, (key: string) => readonly string[]>> = {
  'keys create': () => ['--plan', 'free', '--account', 'acme'],
  'keys update': (key) => [key, '--label', 'one'],
  'keys import': () => ['--hash', 'ab'.repeat(32), '--plan', 'free', '--account', 'acme'],
  'usage grant': (key) => [key, '--units', '1'],
  'plans simulate': () => ['free'],
  'plans set': () => ['free', '--count', 'key'],
  'keys disable': (key) => [key],
  'keys enable': (key) => [key],
  'keys revoke': (key) => [key],
  'keys rotate': (key) => [key],
  'bans add': (key) => [key, '--duration', '1h', '--reason', 'abuse'],
  'bans extend': (key) => [key, '--duration', '1h', '--reason', 'abuse'],
  'bans lift': (key) => [key],
  'usage reset': (key) => [key],
  'tokens create': () => ['reader', '--role', 'read'],
  'tokens revoke': () => ['reader'],
  'status forget': () => ['nope'],
};

interface Found {
  readonly command: string;
  readonly option: Option;
}

function optionsOf(command: Command, name = ''): Found[] {
  const own = command.options
    .filter(({ required, optional }) => required || optional)
    .map((option) => ({ command: name, option }));
  return [
    ...own,
    ...command.commands.flatMap((inner) => optionsOf(inner, `${name} ${inner.name()}`.trim())),
  ];
}

const nameOf = ({ command, option }: Found) => `${command} ${option.long}`.trim();
const all = optionsOf(createProgram(terminalIn('.')));
const lists = all.filter(({ option }) => option.argChoices !== undefined);
const others = all.filter(
  ({ option }) => option.argChoices === undefined && option.parseArg === undefined,
);

const gateway = await TestGateway.start({
  plans: readFileSync('plans.yaml', 'utf8'),
  env: { STOREGATE_ADMIN_TOKEN: TOKEN },
});
afterAll(() => gateway.stop());
const { id: key } = await gateway.key();

const run = (args: readonly string[]) =>
  commandLine(folder())(args, {
    env: { STOREGATE_ADMIN_URL: gateway.adminUrl, STOREGATE_ADMIN_TOKEN: TOKEN },
  });

describe('an option of the command line', () => {
  test('takes a list, a format, an existing name, or a free text', () => {
    const named = others.map(nameOf);
    expect(Object.keys(NAMES).filter((name) => !named.includes(name))).toEqual(
      // They may be repeated, so they have a parser.
      ['plans simulate --drop', 'plans set --drop'],
    );
    const unknown = others.filter(
      (one) => !FREE.test(one.option.long!.slice(2)) && !(nameOf(one) in NAMES),
    );
    expect(unknown.map(nameOf)).toEqual([]);
  });

  test.each(lists.map((one) => [nameOf(one), one] as const))(
    '%s refuses a value that is not in its list, and prints the list',
    async (_name, { command, option }) => {
      const words = command === '' ? [] : command.split(' ');
      const { code, err } = await run([...words, option.long!, 'nope']);
      expect(code).toBe(2);
      expect(err).toContain(`'${option.flags}' argument 'nope' is invalid`);
      expect(err).toContain(option.argChoices!.join(', '));
    },
  );

  test.each(Object.entries(NAMES))(
    '%s refuses an unknown name, and prints the names',
    async (name, names) => {
      const at = name.lastIndexOf(' ');
      const command = name.slice(0, at);
      const needed = CALLS[command]?.(key) ?? [];
      const args = [...command.split(' '), ...needed, name.slice(at + 1), 'nope'];
      const { code, out, err } = await run(args);
      expect({ code, out }).toEqual({ code: 2, out: '' });
      expect(err).toMatch(/^error: option '/);
      const { option } = all.find((one) => nameOf(one) === name)!;
      expect(err).toContain(`'${option.flags}'`);
      expect(err).toContain('"nope"');
      for (const one of names) expect(err).toContain(one);
    },
  );

  const checked = all.filter(
    (one) =>
      !LOCAL.test(one.command) &&
      one.option.argChoices === undefined &&
      !(nameOf(one) in NAMES) &&
      !ANY.has(nameOf(one)),
  );
  test.each(checked.map((one) => [nameOf(one), one] as const))(
    '%s is named in the error for an invalid value',
    async (name, { command, option }) => {
      const value = INVALID[name] ?? INVALID[option.long!];
      expect(value).toBeDefined();
      const needed = CALLS[command]?.(key) ?? [];
      const args = [...command.split(' '), ...needed, option.long!, value!];
      const { code, out, err } = await run(args);
      expect({ code, out }).toEqual({ code: 2, out: '' });
      expect(err.split('\n')[0]).toMatch(/^error: option '.*' is invalid\. [A-Z"].*\.$/);
      expect(err).toContain(`option '${option.flags}'`);
    },
  );

  test('suggests the name that was probably meant', async () => {
    const { err } = await run(['keys', 'list', '--plan', 'buisness']);
    expect(err).toContain('Did you mean "business"?');
  });
});

/** Of each command with an argument, one that names nothing, and the options that it needs. */
const ARGUMENTS: Readonly<Record<string, readonly [string, string?]>> = {
  explain: ['0b7f4a52-63c1-4c0e-9d0f-2f6f1c9a7b3e'],
  'status forget': ['nope'],
  'keys get': ['nope'],
  'keys update': ['nope', '--plan pro'],
  'keys disable': ['nope'],
  'keys enable': ['nope'],
  'keys revoke': ['nope'],
  'keys rotate': ['nope'],
  'keys identify': ['nope'],
  'accounts get': ['nope'],
  'accounts keys': ['nope'],
  'bans history': ['nope'],
  'bans add': ['nope', '--duration 1h --reason abuse'],
  'bans extend': ['nope', '--duration 1h --reason abuse'],
  'bans lift': ['nope'],
  'usage get': ['nope'],
  'usage reset': ['nope'],
  'usage grant': ['nope', '--units 1'],
  'plans get': ['fre'],
  'plans simulate': ['fre', '--limits 5/minute'],
  'plans set': ['fre', '--limits 5/minute'],
  'tokens revoke': ['nope'],
};
/** Arguments of commands that take new names, files or words. */
const NEW = /^(?:tokens create|help|completion|state .*)$/;

describe('a name that a command takes', () => {
  function namedBy(command: Command, name = ''): string[] {
    const inner = command.commands.flatMap((one) => namedBy(one, `${name} ${one.name()}`.trim()));
    return command.registeredArguments.length > 0 && !NEW.test(name) ? [name, ...inner] : inner;
  }

  test('is in the table', () => {
    expect(namedBy(createProgram(terminalIn('.'))).sort()).toEqual(Object.keys(ARGUMENTS).sort());
  });

  test.each(Object.entries(ARGUMENTS))(
    'is refused by %s if it does not exist',
    async (command, [name, options = '']) => {
      const line = `${command} ${name} ${options}`.trim();
      const { code, out, err } = await run(line.split(' '));
      expect({ code, out }).toEqual({ code: 1, out: '' });
      if (command !== 'keys identify') expect(err).toContain(name);
      if (name === 'fre') expect(err).toContain('Did you mean "free"?');
    },
  );

  test('of a plan may be new with --create', async () => {
    const set = ['plans', 'set', 'trial', '--limits', '5/minute'];
    const refused = await run(set);
    expect(refused.err).toMatch(/"trial" does not exist\..* To create it, add create \(--create\)/);
    expect(await run([...set, '--create'])).toMatchObject({ code: 0, err: '' });
    expect(await run(set)).toMatchObject({ code: 0, err: '' });
  });

  test('of an account without bans is known by its keys, also if all are revoked', async () => {
    const { id } = await gateway.key({ account: 'ended' });
    await run(['keys', 'revoke', id]);
    expect(await run(['bans', 'history', 'ended'])).toMatchObject({ code: 0, out: 'No bans.\n' });
    expect((await run(['usage', 'get', 'ended'])).err).toBe(
      'All keys of the account "ended" are revoked.\n',
    );
  });
});

describe('a parameter of the admin API', () => {
  const { document } = adminContract();
  const resolved = (value: Json): Json => {
    const { $ref } = value as { $ref?: string };
    if ($ref === undefined) return value;
    const names = $ref.slice(2).split('/');
    return names.reduce((at, name) => at[name] as Json, document);
  };
  const gets = Object.entries(document.paths as Record<string, { get?: Json }>).flatMap(
    ([path, { get }]) => (get === undefined ? [] : [{ path, get }]),
  );
  const parameters = gets.flatMap(({ path, get }) =>
    ((get.parameters ?? []) as Json[])
      .map(resolved)
      .filter((one) => one.in === 'query')
      .map(({ name, schema }) => ({ path, name: `${name}`, schema: resolved(schema as Json) })),
  );
  const texts = parameters.filter(
    ({ schema }) => schema.type === 'string' && !schema.format && !schema.pattern,
  );
  const closed = texts.filter(({ name }) => !/^(?:after|subject)$/.test(name) && !FREE.test(name));

  test.each(closed.map((one) => [one.path, one.name, one] as const))(
    '%s: %s refuses a value that does not exist, and lists those that do',
    async (path, name, { schema }) => {
      const url = `${gateway.adminUrl}${path}?${name}=nope`;
      const response = await fetch(url, { headers: { Authorization: `Bearer ${TOKEN}` } });
      const { message } = (await response.json()) as { message: string };
      expect([response.status, message]).toEqual([400, expect.any(String)]);
      if (Array.isArray(schema.enum))
        for (const one of schema.enum) expect(message).toContain(String(one));
      else expect(message).toMatch(/"nope" does not exist\. Known \w[\w ]*s: /);
    },
  );

  test('has such a value in at least ten calls', () => {
    expect(closed.length).toBeGreaterThanOrEqual(10);
  });
});

describe('a filter finds records whose names do not exist any more:', () => {
  test('keys with a scope that the contract does not require', async () => {
    await gateway.key({ scopes: ['former'] });
    expect((await run(['keys', 'list', '--scope', 'former'])).out).toMatch(/\nkey_/);
  });

  test('failures of a known action', async () => {
    const { code, out } = await run(['audit', 'list', '--action', 'keys.rotate.failed']);
    expect([code, out]).toEqual([0, 'No audit entries.\n']);
  });
});
