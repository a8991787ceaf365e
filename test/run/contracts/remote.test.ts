import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { ContractError } from '@storegate/openapi';
import { done, head } from '../../../packages/openapi/test/documents.ts';
import { ContractLoader } from '../../../src/run/contracts/loader.ts';
import { ContractCopy, fetchContract } from '../../../src/run/contracts/remote.ts';
import { temporaryFolders } from '../../support/temporary.ts';

const temporary = temporaryFolders();
const documentWith = (path: string, more: object = {}) =>
  JSON.stringify({ ...head, paths: { [path]: { get: { operationId: 'one', responses: done, ...more } } } });

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

test('a contract is fetched at the start, and its copy is in use while the URL is unreachable', async () => {
  const data = temporary();
  const url = await serving((_request, response) => response.end(documentWith('/a')));
  const request = { contract: { file: url }, data };
  const first = await new ContractLoader().loadFirst(request);
  expect(first.contract.match('GET', '/a').operation?.id).toBe('one');
  expect([first.copy, first.contract.files.size]).toEqual([undefined, 0]);
  close();
  const second = await new ContractLoader().loadFirst(request);
  expect(second.contract.fingerprint).toBe(first.contract.fingerprint);
  expect(second.copy).toEqual({
    url,
    at: expect.any(Number),
    reason: expect.stringMatching(/^cannot be fetched: \w+$/),
  });
  expect(await problemOf(new ContractLoader().loadFirst({ ...request, data: temporary() }))).toContain(
    'cannot be fetched',
  );
  expect(new ContractCopy(data).read('http://other.example/openapi.json')).toBeNull();
});

test('a reload fetches again; a contract that is not valid leaves the copy', async () => {
  const data = temporary();
  let text = documentWith('/a');
  const url = await serving((_request, response) => response.end(text));
  const request = { contract: { file: url }, data };
  await new ContractLoader().loadFirst(request);
  text = documentWith('/b');
  expect((await new ContractLoader().load(request)).contract.match('GET', '/b').operation?.id).toBe('one');
  text = documentWith('b');
  expect(await problemOf(new ContractLoader().load(request))).toContain('/');
  expect(new ContractCopy(data).read(url)?.text).toBe(documentWith('/b'));
});

test.each(['../../../../../../../../etc/hostname#', 'other.yaml#/a', '/etc/hostname#', 'file:///etc/hostname#'])(
  'a fetched contract reads no file: %s',
  async (ref) => {
    const more = { parameters: [{ $ref: ref }] };
    const url = await serving((_request, response) => response.end(documentWith('/a', more)));
    const loading = new ContractLoader().loadFirst({ contract: { file: url }, data: temporary() });
    expect(await problemOf(loading)).toMatch(/must be one file|on the network/);
  },
);

describe('a server that is wrong', () => {
  test.each<[string, RequestListener, string]>([
    ['refuses', (_request, response) => response.writeHead(403).end(), 'cannot be fetched: status 403'],
    [
      'returns a page',
      (_request, response) => response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' }).end('<html>'),
      'is a page of HTML, not an OpenAPI document',
    ],
    ['returns bytes', (_request, response) => response.end(Buffer.from([0xff, 0xfe, 0xff])), 'is not UTF-8'],
    [
      'redirects in a circle',
      (request, response) => response.writeHead(302, { Location: request.url! }).end(),
      'cannot be fetched: redirect count exceeded',
    ],
    [
      'redirects to a file',
      (_request, response) => response.writeHead(302, { Location: 'file:///etc/hostname' }).end(),
      'cannot be fetched: URL scheme must be a HTTP(S) scheme',
    ],
    ['never answers', () => {}, 'cannot be fetched: no complete response within 0.2 s'],
    [
      'never ends',
      (_request, response) => void response.write('openapi: 3.1.0'),
      'cannot be fetched: no complete response within 0.2 s',
    ],
    ['closes the connection', (request) => request.destroy(), 'cannot be fetched: '],
  ])('%s', async (_what, listener, message) => {
    expect(await problemOf(fetchContract(await serving(listener), 200))).toContain(message);
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
    expect(await problemOf(fetchContract(url, 60_000))).toBe('is larger than 67108864 bytes');
  });
});
