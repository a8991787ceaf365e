import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type ContractError, loadContract, type Reading } from '../src/index.ts';
import { json as body, done, head, notesOf, problemsOf, short } from './documents.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'contract-'));
});

afterEach(() => rmSync(folder, { recursive: true }));

const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
const off = { responses: 'off' } as const;

function read(document: object, options: Reading = off) {
  const text = JSON.stringify({ ...head, ...document });
  return loadContract(join(folder, 'openapi.json'), { text, ...options });
}

const pets = { get: { operationId: 'pets', responses: done } };

/** Of a file in the folder, without its path. */
function problemsWithFile(document: object, options?: Reading): string[] {
  try {
    read(document, options);
  } catch (error) {
    return (error as ContractError).message.replaceAll(`${folder}/`, '').split('\n');
  }
  return [];
}

describe.each(['3.0.3', '3.1.0', '3.2.0'])('a path item of OpenAPI %s whose $ref', (openapi) => {
  const ok = { '/ok': { get: { operationId: 'ok', responses: done } } };

  test.each<[what: string, ref: string, message: string]>([
    ['names a missing file', 'missing.yaml', 'missing.yaml cannot be read (ENOENT)'],
    ['names an empty file', 'empty.yaml', 'empty.yaml is empty'],
    ['names a list', 'list.yaml', 'list.yaml is not an object'],
    ['points to nothing', '#/x-nothing', '#/x-nothing does not exist'],
    ['points to nothing in a file', 'pets.yaml#/nothing', 'pets.yaml#/nothing does not exist'],
    [
      'is on the network',
      'https://a.example',
      'https://a.example is on the network: only files are read',
    ],
    ['is not valid', '%zz', '%zz is not a valid reference'],
    ['leads to itself', '#/paths/~1pets', 'a path item must not contain itself'],
  ])('%s refuses the contract, whatever onUnsupported', (_what, ref, message) => {
    write('empty.yaml', '');
    write('list.yaml', '[]');
    write('pets.yaml', JSON.stringify(pets));
    const paths = { ...ok, '/pets': { $ref: ref } };
    const document = { ...head, openapi, paths };
    const place = new RegExp(
      `^openapi\\.json:1:\\d+ /paths/~1pets/\\$ref: ${RegExp.escape(message)}$`,
    );
    for (const onUnsupported of ['refuse', 'omit', 'report', 'pass'] as const)
      expect(problemsWithFile(document, { ...off, onUnsupported })).toEqual([
        expect.stringMatching(place),
      ]);
  });

  test('leads to another path item that cannot be read refuses the contract with the place of the second', () => {
    write('first.yaml', '$ref: second.yaml');
    const found = problemsWithFile({ openapi, paths: { ...ok, '/pets': { $ref: 'first.yaml' } } });
    expect(found).toEqual(['first.yaml:1:1 /$ref: second.yaml cannot be read (ENOENT)']);
  });

  test('leads to a path item through other references is read', () => {
    write('first.yaml', '$ref: "second.yaml#/item"');
    write('second.yaml', JSON.stringify({ item: { $ref: '#/last' }, last: pets }));
    const contract = read({
      openapi,
      paths: { '/pets': { $ref: '#/x-item' } },
      'x-item': { $ref: 'first.yaml' },
    });
    expect(contract.match('GET', '/pets').operation?.id).toBe('pets');
    expect(contract.json).not.toContain('second.yaml');
  });
});

const ref = { $ref: 'missing.yaml' };
const form = { schema: {}, encoding: { a: { headers: { h: ref } } } };
const responding = (response: object) => ({ responses: { 200: response } });

test.each<[what: string, operation: object, ...components: object[]]>([
  ['a parameter', { parameters: [ref] }],
  ['a request body', { requestBody: ref }],
  ['the schema of a parameter', { parameters: [{ name: 'q', in: 'query', schema: ref }] }],
  ['the schema of a body', { requestBody: body({ properties: { a: { items: ref } } }) }],
  ['the header of a part', { requestBody: { content: { 'multipart/form-data': form } } }],
  [
    'a component',
    { requestBody: { $ref: '#/components/requestBodies/A' } },
    { requestBodies: { A: ref } },
  ],
  ['a response', responding(ref)],
  ['the header of a response', responding({ description: 'Done.', headers: { h: ref } })],
  ['the schema of a response', responding({ description: 'Done.', ...body(ref) })],
  [
    'a component of responses',
    responding({ $ref: '#/components/responses/A' }),
    { responses: { A: ref } },
  ],
])('%s that cannot be read refuses the contract', (_what, operation, ...[components = {}]) => {
  const paths = { '/a': { post: { operationId: 'a', responses: done, ...operation } } };
  expect(problemsWithFile({ paths, components })).toEqual([
    expect.stringMatching(
      /^openapi\.json:1:\d+ \/.*\$ref: missing\.yaml cannot be read \(ENOENT\)$/,
    ),
  ]);
});

test('a security scheme that cannot be read refuses the contract, because it names the headers of keys', () => {
  const document = { paths: {}, components: { securitySchemes: { key: ref } } };
  expect(problemsWithFile(document, { ...off, onUnsupported: 'pass' })).toHaveLength(1);
});

test('references that no request and no response reaches are notes', () => {
  const callbacks = { back: { '{$url}': ref } };
  const contract = read({
    openapi: '3.1.0',
    paths: { '/a': { get: { operationId: 'a', responses: done, callbacks } } },
    webhooks: { changed: ref },
    components: { schemas: { Unused: ref }, pathItems: { Unused: ref } },
  });
  expect(
    notesOf(contract).filter((note) => note === 'missing.yaml cannot be read (ENOENT)'),
  ).toHaveLength(4);
});

test('a reference of a response to the network is a note', () => {
  const responses = {
    200: { description: 'Done.', ...body({ $ref: 'https://geojson.org/schema/Feature.json' }) },
  };
  const contract = read({ paths: { '/a': { get: { operationId: 'a', responses } } } });
  expect(notesOf(contract)).toEqual([expect.stringMatching(/Feature\.json is on the network/)]);
});

describe.each(['3.0.3', '3.1.0'])(
  'fields beside the $ref of a path item of OpenAPI %s',
  (openapi) => {
    const put = { operationId: 'putPets', responses: done };
    const required = { name: 'q', in: 'query', required: true, schema: { type: 'integer' } };

    test('hold together with those of the referenced path item', () => {
      const paths = { '/a': { $ref: '#/x-item', put, parameters: [required], summary: 'Pets.' } };
      const contract = read({ openapi, paths, 'x-item': { ...pets, summary: 'Other.' } });
      for (const method of ['GET', 'PUT']) {
        const { operation } = contract.match(method, '/a');
        expect(short(operation!.checkParameters([], '', []))).toEqual(['/q is required']);
        expect(short(operation!.checkParameters([], 'q=1', []))).toEqual([]);
      }
      expect(contract.notes).toEqual([]);
      expect(contract.document.paths).toEqual({
        '/a': { ...pets, put, parameters: [required], summary: 'Pets.' },
      });
      expect(contract.document['x-item']).toEqual({ ...pets, summary: 'Other.' });
    });

    test('hold beside a reference to another file, at each step, and with references of their own', () => {
      const remove = { operationId: 'deletePets', responses: done };
      const parameters = [{ $ref: '#/x-q' }];
      write('first.yaml', JSON.stringify({ $ref: 'second.yaml', delete: remove }));
      write('second.yaml', JSON.stringify({ ...pets, parameters, 'x-q': required }));
      const requestBody = { $ref: '#/components/requestBodies/A' };
      const post = { operationId: 'post', requestBody, responses: done };
      const contract = read({
        openapi,
        paths: { '/a': { $ref: 'first.yaml', post, put } },
        components: { requestBodies: { A: body({ type: 'object' }) } },
      });
      const of = (method: string) => contract.match(method, '/a').operation!;
      const ids = ['GET', 'POST', 'PUT', 'DELETE'].map((method) => of(method).id);
      expect(ids).toEqual(['pets', 'post', 'putPets', 'deletePets']);
      expect(short(of('POST').checkParameters([], 'q=x', []))).toEqual(['/q must be an integer']);
    });

    test('hold for a path item that refers to them', () => {
      const paths = {
        '/a': { $ref: '#/paths/~1b' },
        '/b': { $ref: '#/x-item', put: { responses: done } },
      };
      const contract = read({ openapi, paths, 'x-item': { get: { responses: done } } });
      const ids = contract.operations.map(({ id }) => id);
      expect(ids).toEqual(['get /a', 'put /a', 'get /b', 'put /b']);
    });

    test('that the referenced path item has too are mistakes', () => {
      const paths = { '/a': { $ref: '#/x-item', get: put, parameters: [] } };
      const found = problemsOf(() =>
        read({ openapi, paths, 'x-item': { ...pets, parameters: [] } }),
      );
      expect(found).toEqual([
        expect.stringMatching(
          /\/paths\/~1a\/get: get is in the referenced path item too \(.*openapi.json:1:\d+ \/x-item\/get\): remove one of them$/,
        ),
        expect.stringMatching(
          /\/paths\/~1a\/parameters: parameters is in the referenced path item too/,
        ),
      ]);
    });

    test('have their mistakes at their own places', () => {
      const paths = { '/a': { $ref: '#/x-item', put: { ...put, parameters: 7 }, patch: 1 } };
      expect(
        problemsOf(() => read({ openapi, paths, 'x-item': pets })).map((one) =>
          one.replace(/^\S+ /, ''),
        ),
      ).toEqual([
        '/paths/~1a/put/parameters: must be a list',
        '/paths/~1a/patch: must be an object',
      ]);
    });
  },
);

test.each(['query', 'additionalOperations'])(
  '%s of a path of OpenAPI 3.2 refuses the contract',
  (field) => {
    const value = field === 'query' ? pets.get : { COPY: pets.get };
    const document = (item: object) => ({ openapi: '3.2.0', paths: { '/a': item } });
    const found = problemsWithFile(document({ [field]: value }));
    expect(found).toEqual([
      expect.stringContaining(`/paths/~1a/${field}: ${field} of OpenAPI 3.2 is not supported`),
    ]);
    const kept = read(document({ ...pets, [field]: value }), { ...off, onUnsupported: 'omit' });
    expect(kept.operations.map(({ id }) => id)).toEqual(['pets']);
  },
);
