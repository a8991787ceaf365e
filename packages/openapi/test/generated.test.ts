import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { loadContract } from '../src/index.ts';
import { OpenApi } from './generated/document.ts';
import { examplesOf } from './generated/examples.ts';
import { Opinion } from './generated/opinion.ts';
import { Random } from './generated/random.ts';
import { Requests } from './generated/requests.ts';
import { Values } from './generated/values.ts';
import { faultsOf } from './generated/verdict.ts';

const chat = fileURLToPath(new URL('fixtures/chat.yaml', import.meta.url));
const shipped = fileURLToPath(new URL('../../../config/openapi.yaml', import.meta.url));
const document = new OpenApi(shipped);
const random = new Random('shipped');
const requests = new Requests(
  document,
  new Values(document, new Opinion(document), random),
  random,
);

test('valid requests that are made of the shipped contract are taken, and others are not', () => {
  const contract = loadContract(shipped);
  const operations = [...document.operations()];
  const made = Array.from({ length: 10 }, () =>
    operations.map((operation) => requests.make(operation)),
  ).flat();
  expect(made.length).toBeGreaterThan(contract.operations.length);
  expect(made.flatMap((request) => faultsOf(contract, request))).toEqual([]);
  const withBody = made.filter(({ body }) => body !== null);
  const emptied = withBody.map((request) => ({
    ...request,
    body: { ...request.body!, bytes: Buffer.from('[') },
  }));
  expect(withBody.length).toBeGreaterThan(0);
  expect(emptied.filter((request) => faultsOf(contract, request).length === 0)).toEqual([]);
});

test('valid requests that are made of a document of OpenAPI 3.1 are taken', () => {
  const link = {
    type: 'object',
    required: ['url'],
    properties: { url: { type: 'string', minLength: 1 } },
  };
  const thing = {
    type: ['object', 'null'],
    required: ['kind', 'size', 'pair', 'note'],
    $defs: { note: { type: ['string', 'integer'], maxLength: 3, exclusiveMinimum: 7 } },
    properties: {
      kind: { const: 'thing' },
      id: { type: 'string', readOnly: true },
      size: { type: 'number', exclusiveMinimum: 1, exclusiveMaximum: 2 },
      count: { type: 'integer', minimum: 3, exclusiveMinimum: 3, maximum: 5, exclusiveMaximum: 5 },
      pair: { prefixItems: [{ type: 'boolean' }, { type: 'integer' }], items: false, minItems: 2 },
      some: { type: 'array', contains: { const: 1 }, maxItems: 4 },
      note: { $ref: '#/components/schemas/Thing/$defs/note', maxLength: 2 },
      never: { enum: [] },
      or: { anyOf: [{ enum: [] }, { type: 'boolean' }, true] },
    },
    patternProperties: { '^x-': { type: 'string' } },
    unevaluatedProperties: false,
  };
  const form = {
    type: 'object',
    required: ['cover'],
    properties: { cover: { anyOf: [{ type: 'string', contentMediaType: 'image/png' }, link] } },
  };
  const json = { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } };
  const post = (operationId: string, content: object) => ({
    post: {
      operationId,
      requestBody: { required: true, content },
      responses: { 200: { description: 'Done.' } },
    },
  });
  const paths = {
    '/things': post('thing', json),
    '/covers': post('cover', { 'multipart/form-data': { schema: form } }),
  };
  const folder = mkdtempSync(join(tmpdir(), 'contract-'));
  try {
    const file = join(folder, 'openapi.json');
    const info = { title: 'Things', version: '1' };
    writeFileSync(
      file,
      JSON.stringify({ openapi: '3.1.0', info, paths, components: { schemas: { Thing: thing } } }),
    );
    const document = new OpenApi(file);
    const random = new Random('things');
    const requests = new Requests(
      document,
      new Values(document, new Opinion(document), random),
      random,
    );
    const operations = [...document.operations()];
    const made = Array.from({ length: 50 }, () =>
      operations.map((operation) => requests.make(operation)),
    ).flat();
    const contract = loadContract(file);
    expect(made.flatMap((request) => faultsOf(contract, request))).toEqual([]);
    const texts = made.map(({ body }) => String(body!.bytes));
    for (const part of [
      '"kind":"thing"',
      '"count":4',
      '"some":[1',
      'filename=',
      'application/json',
      'null',
    ])
      expect([part, texts.some((text) => text.includes(part))]).toEqual([part, true]);
    expect(texts.filter((text) => text.includes('never'))).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test.each([shipped, chat])('the examples that %s has are taken', (file) => {
  const examples = [...examplesOf(new OpenApi(file), loadContract(file))];
  expect(examples.filter(({ faults }) => faults.length > 0)).toEqual([]);
  expect(examples.length).toBeGreaterThan(3);
});

test('valid requests that are made of schemas with discriminators are taken', () => {
  const document = new OpenApi(chat);
  const random = new Random('chat');
  const requests = new Requests(
    document,
    new Values(document, new Opinion(document), random),
    random,
  );
  const operations = [...document.operations()];
  const made = Array.from({ length: 60 }, () =>
    operations.map((operation) => requests.make(operation)),
  ).flat();
  const contract = loadContract(chat);
  expect(made.flatMap((request) => faultsOf(contract, request))).toEqual([]);
  const texts = made.map(({ body }) => String(body?.bytes));
  for (const value of ['"developer"', '"user"', '"assistant"', '"tool"', '"kitty"', '"Dog"'])
    expect([value, texts.some((text) => text.includes(value))]).toEqual([value, true]);
});
