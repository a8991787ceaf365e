import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from '@jest/globals';
import { ContractError } from '@storegate/openapi';
import { done, head } from '../../../packages/openapi/test/documents.ts';
import type { Event } from '../../../src/observe/events.ts';
import { ContractLoader, LoadingEnded } from '../../../src/run/contracts/loader.ts';
import {
  copyOf,
  type Fetched,
  fetchContract,
  keepCopy,
  nextUrl,
  readCopy,
} from '../../../src/run/contracts/remote.ts';
import { temporaryFolders } from '../../support/temporary.ts';
import { orderOf } from './order.ts';

const temporary = temporaryFolders();
const documentWith = (path: string, more: object = {}) =>
  JSON.stringify({
    ...head,
    paths: { [path]: { get: { operationId: 'one', responses: done, ...more } } },
  });

let close: () => void = () => {};
afterEach(() => close());

async function serving(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  close = () => void server.close().closeAllConnections();
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/openapi.json`;
}

const problemOf = (work: Promise<unknown>) =>
  work.then(
    () => 'no problem',
    (error: unknown) => (error instanceof ContractError ? error.problems[0]!.message : error),
  );

const keep = async (data: string, fetched: Fetched | undefined) => {
  const events: Event[] = [];
  await keepCopy(data, fetched!, (event) => void events.push(event));
  return events;
};

const order = (url: string, data = temporary()) => orderOf(url, data);

test('a contract is fetched at the start, and its copy is in use while the URL is unreachable', async () => {
  const data = join(temporary(), 'data');
  const url = await serving((_request, response) => response.end(documentWith('/a')));
  const request = order(url, data);
  const first = await new ContractLoader().loadFirst(request);
  expect(first.contract.match('GET', '/a').operation?.id).toBe('one');
  expect([first.copy, first.contract.files.size]).toEqual([undefined, 0]);
  expect(await keep(data, first.fetched)).toEqual([]);
  expect([statSync(data).mode & 0o777, readdirSync(data)]).toEqual([
    0o700,
    [expect.stringMatching(/^contract-copy-[^.]+\.json$/)],
  ]);
  close();
  const second = await new ContractLoader().loadFirst(request);
  expect(second.contract.fingerprint).toBe(first.contract.fingerprint);
  expect(second.fetched).toBeUndefined();
  expect(second.copy).toEqual({
    url,
    at: first.fetched!.at,
    reason: expect.stringMatching(/^cannot be fetched: \w+$/),
  });
  expect(
    await problemOf(new ContractLoader().loadFirst({ ...request, data: temporary() })),
  ).toContain('cannot be fetched');
  expect(readCopy(data, 'http://other.example/openapi.json')).toBeNull();
});

test('reports a copy that cannot be written, and ignores a damaged copy', async () => {
  const data = temporary();
  const file = copyOf(data, 'http://api.example/');
  mkdirSync(file);
  const fetched = { url: 'http://api.example/', at: 1, text: '{}' };
  expect(await keep(data, fetched)).toEqual([
    { type: 'contract.copy_failed', url: fetched.url, error: expect.any(Error) },
  ]);
  expect(readdirSync(data)).toEqual([basename(file)]);
  rmSync(file, { recursive: true });
  for (const text of ['', '{', 'null', '{"url":"http://api.example/"}']) {
    writeFileSync(file, text);
    expect(readCopy(data, fetched.url)).toBeNull();
  }
});

test('closing the loader ends a fetch', async () => {
  const url = await serving(() => {});
  const loader = new ContractLoader();
  const requested = order(url);
  const loading = loader.load(requested);
  setImmediate(() => loader.close());
  await expect(loading).rejects.toThrow(LoadingEnded);
  await expect(loader.load(requested)).rejects.toThrow(LoadingEnded);
});

test.each([
  '../../../../../../../../etc/hostname#',
  'other.yaml#/a',
  '/etc/hostname#',
  'file:///etc/hostname#',
])('a fetched contract reads no file: %s', async (ref) => {
  const more = { parameters: [{ $ref: ref }] };
  const url = await serving((_request, response) => response.end(documentWith('/a', more)));
  expect(await problemOf(new ContractLoader().loadFirst(order(url)))).toMatch(
    /must be one file|on the network/,
  );
});

const BOMB = gzipSync(Buffer.alloc(65 * 1024 * 1024));
const responding =
  (
    status: number,
    headers: Record<string, string> = {},
    body: string | Buffer = '',
  ): RequestListener =>
  (_request, response) =>
    void response.writeHead(status, headers).end(body);

test.each<[string, string, string]>([
  ['http://a.example/x', '/y', 'http://a.example/y'],
  ['http://a.example/x', 'https://b.example/y', 'https://b.example/y'],
  ['https://a.example/x', '//b.example/y', 'https://b.example/y'],
  ['https://a.example/x', 'http://a.example/x', 'from https to http'],
  ['http://a.example/x', 'ftp://a.example/x', 'not http or https, or has credentials'],
  ['http://a.example/x', 'http://me:secret@a.example/x', 'not http or https, or has credentials'],
  ['http://a.example/x', 'http://[', 'not http or https, or has credentials'],
])('a redirect from %s to %s: %s', (from, location, expected) => {
  const next = () => nextUrl(location, from);
  if (expected.startsWith('http')) expect(next()).toBe(expected);
  else expect(next).toThrow(expected);
});

test.each(['application/json', 'text/plain', 'application/octet-stream', ''])(
  'the content type is not relevant: %s',
  async (type) => {
    const headers = type === '' ? {} : { 'Content-Type': type };
    const url = await serving(responding(200, headers, 'openapi: 3.1.0'));
    expect((await fetchContract(url)).text).toBe('openapi: 3.1.0');
  },
);

describe('a server that is wrong', () => {
  test.each<[string, RequestListener, string]>([
    ['refuses', responding(403), 'cannot be fetched: status 403'],
    [
      'returns a page',
      responding(200, { 'Content-Type': 'text/html; charset=utf-8' }, '<html>'),
      'is a page of HTML, not an OpenAPI document',
    ],
    ['returns bytes', responding(200, {}, Buffer.from([0xff, 0xfe, 0xff])), 'is not UTF-8'],
    [
      'redirects in a circle',
      (request, response) => response.writeHead(302, { Location: request.url! }).end(),
      'cannot be fetched: more than 5 redirects',
    ],
    [
      'redirects to a file',
      responding(302, { Location: 'file:///etc/hostname' }),
      'cannot be fetched: it redirects to a URL that is not http or https, or has credentials',
    ],
    ['redirects to nowhere', responding(302), 'cannot be fetched: status 302'],
    [
      'packs more than a contract may have',
      responding(200, { 'Content-Encoding': 'gzip' }, BOMB),
      'is larger than 67108864 bytes',
    ],
    ['never answers', () => {}, 'cannot be fetched: no complete response within 0.2 s'],
    [
      'never ends',
      (_request, response) => void response.write('openapi: 3.1.0'),
      'cannot be fetched: no complete response within 0.2 s',
    ],
    ['closes the connection', (request) => request.destroy(), 'cannot be fetched: '],
  ])('%s', async (what, listener, message) => {
    expect(
      await problemOf(
        fetchContract(await serving(listener), {
          timeout: what.startsWith('never') ? 200 : 60_000,
        }),
      ),
    ).toContain(message);
  });

  test('sends more than a contract may have', async () => {
    const chunk = Buffer.alloc(1024 * 1024, 'a');
    const url = await serving((_request, response) => {
      const send = () => {
        while (!response.destroyed && response.write(chunk));
        response.once('drain', send);
      };
      send();
    });
    expect(await problemOf(fetchContract(url, { timeout: 60_000 }))).toBe(
      'is larger than 67108864 bytes',
    );
  });
});
