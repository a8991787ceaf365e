import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { parentPort, Worker, workerData } from 'node:worker_threads';
import { loadContract } from '../packages/openapi/src/index.ts';
import { expressMiddleware } from '../packages/openapi/src/servers/express.ts';

/**
 * One document in Express with each validator: which requests it decides wrongly, and the CPU time
 * of a valid POST beside Express alone. The peers are not in the project:
 *
 *     npm install --prefix FOLDER express express-openapi-validator openapi-backend
 *     node bench/openapi-validators.ts FOLDER
 */
const SUBJECTS = ['express', 'storegate', 'express-openapi-validator', 'openapi-backend'] as const;
type Subject = (typeof SUBJECTS)[number];

const item = {
  type: 'object',
  required: ['sku', 'count'],
  additionalProperties: false,
  properties: {
    sku: { type: 'string', pattern: '^[A-Z]{3}-[0-9]{4}$' },
    count: { type: 'integer', minimum: 1, maximum: 100 },
    price: { type: 'number', multipleOf: 0.01 },
  },
};
const order = {
  type: 'object',
  required: ['id', 'email', 'items'],
  additionalProperties: false,
  properties: {
    id: { type: 'integer', format: 'int64' },
    email: { type: 'string', format: 'email' },
    note: { type: 'string', maxLength: 200 },
    items: { type: 'array', minItems: 1, maxItems: 20, items: item },
  },
};
const ids = { type: 'array', items: { type: 'integer' } };
const DOCUMENT = {
  openapi: '3.0.3',
  info: { title: 'Shop', version: '1' },
  paths: {
    '/orders/{id}': {
      parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' } }],
      post: {
        operationId: 'changeOrder',
        parameters: [
          { name: 'ids', in: 'query', explode: false, schema: ids },
          { name: 'X-Trace', in: 'header', schema: { type: 'integer' } },
        ],
        requestBody: {
          required: true,
          content: {
            'application/json': { schema: order },
            'application/x-www-form-urlencoded': { schema: item },
          },
        },
        responses: { 200: { description: 'Done.' } },
      },
    },
  },
};

const ITEM = { sku: 'ABC-1234', count: 2, price: 1.1 };
const GOOD = { id: 7, email: 'a@b.example', note: 'soon', items: Array(5).fill(ITEM) };
const JSON_TYPE = { 'Content-Type': 'application/json' };
const body = (change: object) => JSON.stringify({ ...GOOD, ...change });

interface Sent {
  readonly path?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

/** By what OpenAPI and HTTP say: what is sent, and whether it is valid. */
const CASES: Readonly<Record<string, readonly [valid: boolean, sent: Sent]>> = {
  'a valid body': [true, {}],
  'a list in the query': [true, { path: '/orders/7?ids=1,2' }],
  'a form': [
    true,
    {
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      body: 'sku=ABC-1234&count=2',
    },
  ],
  'a price of 1.1': [true, { body: body({ items: [{ ...ITEM, price: 1.1 }] }) }],
  'a price of 4.35': [true, { body: body({ items: [{ ...ITEM, price: 4.35 }] }) }],
  'an int64': [true, { body: body({ id: 0 }).replace('"id":0', '"id":9223372036854775807') }],
  'a number as text in a path': [false, { path: '/orders/seven' }],
  'an unknown query parameter': [false, { path: '/orders/7?idz=1' }],
  'a list with text': [false, { path: '/orders/7?ids=1,b' }],
  'a header': [false, { headers: { ...JSON_TYPE, 'X-Trace': 'one' } }],
  'a missing member': [false, { body: body({ items: undefined }) }],
  'an unknown member': [false, { body: body({ other: 1 }) }],
  'text for a number': [false, { body: body({ items: [{ ...ITEM, count: '2' }] }) }],
  'beyond int64': [false, { body: body({ id: 0 }).replace('"id":0', '"id":9223372036854775808') }],
  'a name twice': [false, { body: body({}).replace('{', '{"id":1,') }],
  'no body': [false, { body: '' }],
  'another media type': [false, { headers: { 'Content-Type': 'text/plain' }, body: 'order' }],
  'a form with a wrong count': [
    false,
    {
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      body: 'sku=ABC-1234&count=0',
    },
  ],
  'invalid UTF-8': [false, { body: body({ note: 'X' }).replace('X', '\xff') }],
};

async function serve(subject: Subject, folder: string): Promise<void> {
  const load = createRequire(join(folder, 'index.js'));
  const express = load('express');
  const app = express();
  const parsers = [express.json({ limit: '1mb' }), express.urlencoded({ extended: false })];
  switch (subject) {
    case 'express':
      app.use(...parsers);
      break;
    case 'storegate':
      app.use(expressMiddleware(loadContract(DOCUMENT)));
      break;
    case 'express-openapi-validator': {
      const { middleware } = load('express-openapi-validator');
      app.use(...parsers, middleware({ apiSpec: DOCUMENT, validateRequests: true }));
      break;
    }
    case 'openapi-backend': {
      const { OpenAPIBackend } = load('openapi-backend');
      const api = new OpenAPIBackend({
        definition: DOCUMENT,
        customizeAjv: (ajv: object) => {
          load('ajv-formats')(ajv);
          return ajv;
        },
        handlers: {
          changeOrder: (_c: object, _req: object, res: { end(): void }) => res.end(),
          validationFail: (_c: object, _req: object, res: Reply) => res.status(400).end(),
          notFound: (_c: object, _req: object, res: Reply) => res.status(404).end(),
        },
      });
      await api.init();
      app.use(...parsers, (req: object, res: object) => api.handleRequest(req, req, res));
    }
  }
  app.use((_req: object, res: Reply) => res.end());
  app.use((error: { status?: number }, _req: object, res: Reply, _next: unknown) =>
    res.status(error.status ?? 500).end(),
  );
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  parentPort!.on('message', () => parentPort!.postMessage(process.threadCpuUsage()));
  parentPort!.postMessage((server.address() as AddressInfo).port);
}

interface Reply {
  status(code: number): Reply;
  end(): void;
}

const agent = new Agent({ keepAlive: true, maxSockets: 8 });

async function send(port: number, { path = '/orders/7', headers = JSON_TYPE, body: text }: Sent) {
  const bytes = Buffer.from(text ?? body({}), 'latin1');
  const sending = request({ agent, port, path, method: 'POST', headers }).end(bytes);
  const [response] = await once(sending, 'response');
  await buffer(response);
  return response.statusCode as number;
}

async function measure(folder: string): Promise<void> {
  const rounds = 7;
  const count = 2_000;
  const running = [];
  for (const subject of SUBJECTS) {
    const worker = new Worker(import.meta.filename, { workerData: { subject, folder } });
    const [port] = (await once(worker, 'message')) as [number];
    running.push({ subject, worker, port, times: [] as number[] });
  }
  const used = async (worker: Worker) => {
    worker.postMessage('cpu');
    const [{ user, system }] = await once(worker, 'message');
    return user + system;
  };
  for (let round = 0; round <= rounds; round++)
    for (const { worker, port, times } of running) {
      const before = await used(worker);
      const client = async () => {
        for (let i = 0; i < count / 8; i++) await send(port, {});
      };
      await Promise.all(Array.from({ length: 8 }, client));
      // The first round compiles.
      if (round > 0) times.push(((await used(worker)) - before) / count);
    }
  for (const { subject, port, times } of running) {
    const wrong = [];
    for (const [name, [valid, sent]] of Object.entries(CASES))
      if (((await send(port, sent)) === 200) !== valid) wrong.push(name);
    const median = times.sort((a, b) => a - b)[Math.floor(rounds / 2)]!;
    const decided = subject === 'express' ? '' : `, wrong: ${wrong.join('; ') || 'none'}`;
    console.log(`${subject}: ${median.toFixed(0)} µs${decided}`);
  }
  agent.destroy();
  for (const { worker } of running) await worker.terminate();
}

if (parentPort !== null) await serve(workerData.subject, workerData.folder);
else await measure(resolve(process.argv[2] ?? '.'));
