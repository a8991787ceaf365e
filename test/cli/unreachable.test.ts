import { writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Command } from 'commander';
import { DETAILS } from '../../src/cli/command.ts';
import { CommandError, type Connection, failureOf } from '../../src/cli/connect/api.ts';
import { connectOverHttp } from '../../src/cli/connect/http.ts';
import { createProgram } from '../../src/cli/run.ts';
import { type FolderLock, lockFolder } from '../../src/state/embedded/lock.ts';
import { commandLine, type Result, terminalIn } from '../support/command-line.ts';
import { temporaryFolders } from '../support/temporary.ts';

/** Commands without a call of the admin API. */
const ALONE = /^(init|serve|store|check|version|completion|help|state\b|webhooks schema)/;
/** Nothing listens there. */
const NOWHERE = 'http://127.0.0.1:9';

const folderOf = temporaryFolders();
let cwd: string;
beforeEach(() => {
  cwd = folderOf();
});

/** The first example of each command that has no commands of its own, without what a shell adds. */
function examplesIn(command: Command, name = ''): string[] {
  const own = DETAILS.get(command)?.example.split(/ (?:&&|<|>>?|\|) /)[0];
  const inner = command.commands.flatMap((one) => examplesIn(one, `${name} ${one.name()}`.trim()));
  return own === undefined || ALONE.test(name) ? inner : [own, ...inner];
}

const examples = [...new Set(examplesIn(createProgram(terminalIn('.'))))];

test('the examples are those of all commands that call a gateway', () => {
  expect(examples.length).toBeGreaterThan(35);
  expect(examples).toEqual(expect.arrayContaining(['status --url http://127.0.0.1:9901', 'bans lift acme']));
});

test.each(examples)('storegate %s ends with 3 if the gateway is unreachable', async (example) => {
  const words = example.match(/"[^"]*"|\S+/g)!.map((word) => word.replaceAll('"', ''));
  const args = words.filter((word) => word !== '--url' && !word.startsWith('http:'));
  // A file without keys needs no call.
  writeFileSync(join(cwd, 'keys.csv'), `hash,plan,account\n${'a'.repeat(64)},free,acme\n`);
  const { code, err } = await commandLine(cwd)([...args, '--url', NOWHERE], { input: 'sg_live_x' });
  expect({ code, err }).toEqual({ code: 3, err: expect.stringContaining(`Cannot reach the gateway at ${NOWHERE}`) });
});

describe('a gateway of the data folder that is not reached', () => {
  let lock: FolderLock;
  const sg = (...args: string[]): Promise<Result> => commandLine(cwd)(args);
  let id: string;
  beforeEach(async () => {
    ({ id } = JSON.parse((await sg('keys', 'create', '--plan', 'free', '--account', 'acme', '--json')).out));
    lock = lockFolder(join(cwd, 'data'));
  });
  afterEach(() => lock.release());

  test.each([
    'bans list',
    'bans lift KEY',
    'bans add KEY --duration 1h --reason abuse',
    'usage get KEY',
    'usage reset KEY',
    'usage grant KEY --units 5',
    'status',
    'stores',
    'top',
    'history',
    'requests',
    'requests --follow',
    'explain 0b7f4a52-63c1-4c0e-9d0f-2f6f1c9a7b3e',
    'plans set free --limits 30/minute',
    'reload',
    'config diff',
    'webhooks list',
  ])('ends storegate %s with 3', async (line) => {
    for (const announce of [() => {}, () => lock.announce({ url: NOWHERE, token: 't' })]) {
      announce();
      const { code, err } = await sg(...line.replace('KEY', id).split(' '));
      expect({ code, err }).toEqual({ code: 3, err: expect.stringContaining('is running on') });
    }
  });
});

test.each([
  [400, 'usage'],
  [401, 'shut'],
  [403, 'shut'],
  [404, 'failed'],
  [409, 'failed'],
  [429, 'shut'],
  [503, 'failed'],
])('a refusal with status %i is the failure %s', (status, failure) => {
  expect(failureOf(status)).toBe(failure);
});

describe('a gateway that hangs', () => {
  let url: string;
  let close: () => void;
  const connect = (options: { timeout?: number; silence?: number } = {}): Connection =>
    connectOverHttp(url, null, options);

  async function serve(listener: RequestListener): Promise<void> {
    const server = createServer(listener);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    close = () => void server.close().closeAllConnections();
  }

  afterEach(() => close());

  const failure = async (work: Promise<unknown>) => {
    const error = await work.catch((reason: unknown) => reason);
    if (!(error instanceof CommandError)) throw error;
    return { failure: error.failure, message: error.message.replace(url, 'URL') };
  };

  test.each<[string, RequestListener]>([
    ['before its response', () => {}],
    ['in the middle of its response', (_, response) => void response.writeHead(200).write('{"bans":')],
    ['in the middle of a refusal', (_, response) => void response.writeHead(409).write('{"message":')],
  ])('%s is unreachable for a call, because of a timeout', async (_, listener) => {
    await serve(listener);
    const message = 'Cannot reach the gateway at URL: timeout.';
    expect(await failure(connect({ timeout: 50 }).call('GET', '/bans'))).toEqual({ failure: 'shut', message });
  });

  test('or closes is lost for a stream', async () => {
    const { signal } = new AbortController();
    const follow = (silence = 60_000) => failure(connect({ silence }).follow('/live', {}, () => {}, signal));
    await serve((_, response) => void response.writeHead(200).write(': hello\n\n'));
    const silent = { failure: 'lost', message: 'The gateway at URL does not respond.' };
    expect(await follow(50)).toEqual(silent);
    close();
    await serve((_, response) => void response.writeHead(200).end(': hello\n\n'));
    expect(await follow()).toEqual({ failure: 'lost', message: expect.stringContaining('closed the stream') });
    close();
    await serve((_, response) => {
      response.writeHead(200).write(': hello\n\n', () => response.destroy());
    });
    expect(await follow()).toEqual({ failure: 'lost', message: 'Lost the connection to the gateway at URL.' });
  });
});
