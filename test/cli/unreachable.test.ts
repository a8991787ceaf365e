import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { ADMIN_HEADER } from '@storegate/admin-api';
import type { Command } from 'commander';
import { DETAILS } from '../../src/cli/command.ts';
import {
  type CallFailure,
  CommandError,
  type Connection,
  failureOf,
} from '../../src/cli/connect/api.ts';
import { connectOverHttp } from '../../src/cli/connect/http.ts';
import { createProgram } from '../../src/cli/run.ts';
import type { Lock } from '../../src/common/lock.ts';
import { openAdminSocket } from '../../src/state/admin-sockets.ts';
import { lockFolder } from '../../src/state/embedded/lock.ts';
import { Authority } from '../support/certificates.ts';
import { commandLine, type Result, terminalIn } from '../support/command-line.ts';
import { freePort } from '../support/free-port.ts';
import { temporaryFolders } from '../support/temporary.ts';
import { fakeBackend } from '../support/upstream.ts';

/** Commands without a call of the admin API. */
const ALONE = /^(init|serve|store|check|version|completion|help|state\b|webhooks schema)/;
/** Nothing listens there. */
const NOWHERE = 'http://127.0.0.1:9';
const OF_ADMIN = { [ADMIN_HEADER]: 'admin' };

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
  expect(examples).toEqual(
    expect.arrayContaining(['status --url http://127.0.0.1:9901', 'bans lift acme']),
  );
});

async function runAt(url: string, example: string): Promise<Pick<Result, 'code' | 'err'>> {
  const words = example.match(/"[^"]*"|\S+/g)!.map((word) => word.replaceAll('"', ''));
  const args = words.filter((word) => word !== '--url' && !word.startsWith('http:'));
  // A file without keys needs no call.
  writeFileSync(join(cwd, 'keys.ndjson'), `{"hash":"${'a'.repeat(64)}","account":"acme"}\n`);
  const { code, err } = await commandLine(cwd)([...args, '--url', url], { input: 'sg_live_x' });
  return { code, err };
}

test.each(examples)('storegate %s ends with 3 if the gateway is unreachable', async (example) => {
  const err = expect.stringContaining(`Cannot reach the gateway at ${NOWHERE}`);
  expect(await runAt(NOWHERE, example)).toEqual({ code: 3, err });
});

describe('the URL of another server', () => {
  let url: string;
  let reply: RequestListener;
  let close: () => Promise<void>;
  const json = (status: number, body: string): RequestListener => {
    return (_, response) =>
      void response.writeHead(status, { 'Content-Type': 'application/json' }).end(body);
  };
  const refusal = (status: number) => ({
    code: 3,
    err:
      `${url} is not an admin URL of storegate: it returned ${status} without the header X-Storegate. ` +
      'Use the address of admin.host and admin.port.\n',
  });

  beforeAll(async () => {
    ({ url, close } = await fakeBackend((request, response) => reply(request, response)));
  });
  afterAll(() => close());

  test.each(examples)('ends storegate %s with 3', async (example) => {
    for (const [status, body] of [
      [200, 'null'],
      [404, '{"message":"no"}'],
    ] as const) {
      reply = json(status, body);
      expect(await runAt(url, example)).toEqual(refusal(status));
    }
  });

  test.each<[string, number, RequestListener]>([
    ['redirects', 302, (_, response) => void response.writeHead(302, { Location: '/login' }).end()],
    [
      'never ends its response',
      200,
      (_, response) => void response.writeHead(200).write('data: {}\n\n'),
    ],
    ['sends HTML', 502, (_, response) => void response.writeHead(502).end('<h1>Bad Gateway</h1>')],
  ])('is refused if the server %s', async (_, status, listener) => {
    reply = listener;
    expect(await runAt(url, 'bans list')).toEqual(refusal(status));
    expect(await runAt(url, 'requests --follow')).toEqual(refusal(status));
  });
});

describe('a gateway of the data folder that is not reached', () => {
  let lock: Lock;
  let remove: () => void;
  const sg = (...args: string[]): Promise<Result> => commandLine(cwd)(args);
  let id: string;
  beforeEach(async () => {
    ({ id } = JSON.parse(
      (await sg('keys', 'create', '--plan', 'free', '--account', 'acme', '--json')).out,
    ));
    lock = lockFolder(join(cwd, 'data'));
    const ended = createServer();
    remove = await openAdminSocket(join(cwd, 'data'), ended);
    await new Promise((resolve) => ended.close(resolve));
  });
  afterEach(() => {
    remove();
    lock.release();
  });

  test.each([
    'bans list',
    'bans lift KEY',
    'bans add KEY --duration 1h --reason abuse',
    'usage get KEY',
    'usage reset KEY',
    'usage grant KEY --units 5',
    'status',
    'backends',
    'top',
    'requests',
    'requests --follow',
    'explain 0b7f4a52-63c1-4c0e-9d0f-2f6f1c9a7b3e',
    'plans set free --limits 30/minute',
    'reload',
    'config diff',
    'webhooks list',
  ])('ends storegate %s with 3', async (line) => {
    const { code, err } = await sg(...line.replace('KEY', id).split(' '));
    expect({ code, err }).toEqual({ code: 3, err: expect.stringContaining('is running on') });
  });
});

test.each([
  [400, 'usage'],
  [401, 'denied'],
  [403, 'denied'],
  [404, 'failed'],
  [409, 'failed'],
  [429, 'denied'],
  [503, 'failed'],
])('a refusal with status %i is the failure %s', (status, failure) => {
  expect(failureOf(status)).toBe(failure);
});

describe('a call that fails', () => {
  const failureAt = async (url: string) => {
    const error = await connectOverHttp(url, null).call('POST', '/keys').catch(Object);
    return (error as CommandError).failure;
  };

  test.each<[string, string]>([
    ['has a port that fetch refuses', NOWHERE],
    ['refuses the connection', 'http://127.0.0.1:PORT'],
    ['refuses it at each address', 'http://localhost:PORT'],
    ['has no address', 'http://nowhere.invalid'],
  ])('was not received if the server %s', async (_, url) => {
    expect(await failureAt(url.replace('PORT', `${await freePort()}`))).toBe('shut');
  });

  test('was not received if the certificate of the server is not trusted', async () => {
    const authority = new Authority();
    const { cert, key } = authority.issue('server', 'IP:127.0.0.1');
    const pair = { cert: readFileSync(cert), key: readFileSync(key) };
    let received = 0;
    const server = createTlsServer(pair, () => void received++);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    expect(await failureAt(`https://127.0.0.1:${port}`)).toBe('shut');
    expect(received).toBe(0);
    server.close();
    authority.remove();
  });

  test.each<[string, CallFailure, RequestListener]>([
    ['closes the connection', 'lost', ({ socket }) => void socket.destroy()],
    ['is a proxy that fails', 'lost', (_, response) => void response.writeHead(502).end()],
    ['is another server', 'shut', (_, response) => void response.writeHead(404).end('{}')],
    [
      'breaks its response off',
      'lost',
      (_, response) => {
        response.writeHead(201, OF_ADMIN).write('{"id":');
        response.socket!.end();
      },
    ],
  ])('to a server that %s is %s', async (_, failure, listener) => {
    const { url, close } = await fakeBackend(listener);
    expect(await failureAt(url)).toBe(failure);
    await close();
  });
});

describe('a gateway that hangs', () => {
  let url: string;
  let close: () => Promise<void>;
  const connect = (options: { timeout?: number } = {}): Connection =>
    connectOverHttp(url, null, options);

  async function serve(listener: RequestListener): Promise<void> {
    ({ url, close } = await fakeBackend(listener));
  }

  afterEach(() => close());

  const failure = async (work: Promise<unknown>) => {
    const error = await work.catch((reason: unknown) => reason);
    if (!(error instanceof CommandError)) throw error;
    return { failure: error.failure, message: error.message.replace(url, 'URL') };
  };

  test.each<[string, RequestListener]>([
    ['before its response', () => {}],
    [
      'in the middle of its response',
      (_, response) => void response.writeHead(200, OF_ADMIN).write('{"bans":'),
    ],
    [
      'in the middle of a refusal',
      (_, response) => void response.writeHead(409, OF_ADMIN).write('{"message":'),
    ],
  ])('%s is unreachable for a call, because of a timeout', async (_, listener) => {
    await serve(listener);
    const message = 'Cannot reach the gateway at URL: timeout.';
    expect(await failure(connect({ timeout: 50 }).call('GET', '/bans'))).toEqual({
      failure: 'lost',
      message,
    });
  });
});
