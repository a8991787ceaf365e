import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import express from 'express';
import { type Fault, loadContract, type RequestResult } from '../src/index.ts';
import { expressMiddleware } from '../src/servers/express.ts';
import { fetchHandler } from '../src/servers/fetch.ts';
import { head } from './documents.ts';

const pet = {
  type: 'object',
  required: ['name'],
  properties: { name: { type: 'string' }, age: { type: 'integer' } },
};
const content = { 'application/json': { schema: pet }, 'image/png': {} };
const contract = loadContract({
  ...head,
  paths: {
    '/pets/{id}': {
      put: {
        operationId: 'changePet',
        parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' } }],
        requestBody: { required: true, content },
        responses: { 200: { description: 'The pet.', content } },
      },
    },
  },
});

interface Seen {
  readonly operation: string | undefined;
  readonly values: unknown;
  readonly body: unknown;
}

const JSON_TYPE = { 'Content-Type': 'application/json' };
const put = (
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = JSON_TYPE,
) => ({
  method: 'PUT',
  headers,
  body,
});

const REFUSED: readonly (readonly [number, string, string, RequestInit])[] = [
  [400, 'required', '/pets/7', put('{}')],
  [400, 'type', '/pets/a', put('{"name":"Rex"}')],
  [404, 'unknown', '/cats', put('{}')],
  [405, 'unknown', '/pets/7', {}],
  [413, 'size', '/pets/7', put(`{"name":"${'x'.repeat(2_000)}"}`)],
  [415, 'mediaType', '/pets/7', put('{}', { 'Content-Type': 'text/plain' })],
];

/** Both refuse the same requests in the same way. */
function refuses(send: (path: string, init: RequestInit) => Promise<Response>): void {
  test.each(REFUSED)('refuses with %i (%s) %s', async (status, rule, path, init) => {
    const response = await send(path, init);
    const { faults } = (await response.json()) as { faults: Fault[] };
    expect([response.status, faults[0]!.rule]).toEqual([status, rule]);
    expect(response.headers.get('Allow')).toBe(status === 405 ? 'PUT' : null);
  });
}

describe('the middleware for Express', () => {
  const app = express();
  let server: Server;
  let url: string;
  beforeAll(async () => {
    app.use('/late', express.json(), expressMiddleware(contract));
    app.use('/', expressMiddleware(contract, { maxBodyBytes: 1_000 }));
    app.put('/pets/:id', (request, response) => {
      const { operation, values } = (
        request as unknown as { openapi: RequestResult<{ id: string }> }
      ).openapi;
      const body = Buffer.isBuffer(request.body) ? `${request.body}` : request.body;
      response.json({ operation: operation?.id, values: values?.path, body } satisfies Seen);
    });
    app.use(((error, _request, response, _next) => {
      response.status(500).json({ message: error.message });
    }) satisfies express.ErrorRequestHandler);
    server = createServer(app).listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.close();
    server.closeAllConnections();
  });

  const send = (path: string, init: RequestInit) => fetch(url + path, init);
  refuses(send);

  test('gives the next handler values and the parsed body', async () => {
    const response = await send('/pets/7', put('{"name":"Rex"}'));
    const seen = { operation: 'changePet', values: { id: 7 }, body: { name: 'Rex' } };
    expect(await response.json()).toEqual(seen);
  });

  test('gives the next handler bytes that are not parsed', async () => {
    const response = await send('/pets/7', put('abc', { 'Content-Type': 'image/png' }));
    expect(await response.json()).toMatchObject({ body: 'abc' });
  });

  test('says what to do if the body was read before', async () => {
    const response = await send('/late/pets/7', put('{"name":"Rex"}'));
    expect([response.status, await response.json()]).toEqual([
      500,
      { message: 'the body was read before; use the middleware before express.json()' },
    ]);
  });
});

describe('the wrapper for Fetch', () => {
  const reports: (readonly Fault[])[] = [];
  const handler = fetchHandler(
    contract,
    async (request, { operation, values }) => {
      const body = await request.text();
      const { age } = values!.body as { age?: number };
      return Response.json({ name: `${operation?.id} ${body}`, ...(age && { age: `${age}` }) });
    },
    { maxBodyBytes: 1_000, onResponse: (faults) => reports.push(faults) },
  );
  const send = (path: string, init: RequestInit) => handler(new Request(`http://a${path}`, init));
  refuses(send);

  test('gives the handler values and an unread body, and reports faults of the response', async () => {
    const good = await send('/pets/7', put('{"name":"Rex"}'));
    expect(await good.json()).toEqual({ name: 'changePet {"name":"Rex"}' });
    expect(reports).toEqual([[]]);
    await send('/pets/7', put('{"name":"Rex","age":7}'));
    expect(reports[1]).toMatchObject([{ in: 'body', pointer: '/age', rule: 'type' }]);
  });

  test('checks requests of a client before they are sent', async () => {
    const sent: string[] = [];
    const checked = fetchHandler(contract, async (request) => {
      sent.push(await request.text());
      return Response.json({});
    });
    expect((await checked(new Request('http://a/pets/7', put('{}')))).status).toBe(400);
    expect((await checked(new Request('http://a/pets/7', put('{"name":"Rex"}')))).status).toBe(200);
    expect(sent).toEqual(['{"name":"Rex"}']);
  });
});
