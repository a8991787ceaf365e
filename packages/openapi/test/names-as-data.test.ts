import { describe, expect, test } from '@jest/globals';
import { dialectOf } from '../src/dialect/dialect.ts';
import {
  checkContract,
  createContract,
  deserialize,
  loadContract,
  serialize,
} from '../src/index.ts';
import { atOnce } from '../src/slices.ts';
import { loadText, problemsOf } from './documents.ts';

/** A name that no dialect and no prototype has. */
const PLAIN = 'zzzzzzzzzzzzzzzzzz';

const VERSIONS = ['3.0.3', '3.1.1', '3.2.0'] as const;
type Version = (typeof VERSIONS)[number];

/** Of the schemas that a check is compiled from, and of every object in JavaScript. */
const OWN = ['refers', 'cases', 'kinds', 'refused', 'content', 'endOfFaults', 'anyOfMany'];
const INHERITED = ['constructor', 'toString', 'hasOwnProperty', 'valueOf', '__defineGetter__'];

/** Fields of other objects that are read by name. */
const FIELDS = ['name', 'in', 'content', 'schema', 'headers', 'parameters', 'value', 'mapping'];

const OTHERS = ['$ref', '$id', ...OWN, ...INHERITED, ...FIELDS];

/** OpenAPI 3.2 has the schemas of 3.1. */
const keywordsOf = (openapi: Version): string[] =>
  openapi === '3.2.0'
    ? OTHERS
    : [...new Set([...Object.keys(dialectOf({ openapi })!.grammar.schema), ...OTHERS])];

const integer = { type: 'integer' };
const done = { 200: { description: 'Done.' } };

/** The name stands in every place where a name is data. */
function documentOf(name: string, openapi: Version) {
  const ref = { $ref: `#/components/schemas/${name}` };
  const closed = (properties: object, more: object = {}) => ({
    type: 'object',
    additionalProperties: false,
    properties,
    ...more,
  });
  const form = closed({ [name]: integer, q_others: { type: 'array', items: integer } });
  const sent = { [name]: { $ref: 'data', properties: { [name]: 1 } } };
  const later = {
    patternProperties: { [`^${name.replace('$', '[$]')}$`]: integer },
    dependentRequired: { [name]: ['b', name] },
    dependentSchemas: { [name]: { required: ['c'] } },
    $defs: { [name]: integer },
  };
  const schemas = {
    // Two ways lead to the schema again, so results of checks are remembered.
    [name]: closed(
      {
        [name]: { type: 'array', items: ref },
        q_next: ref,
        q_last: { oneOf: [ref, integer] },
        q_number: integer,
      },
      { example: sent, default: sent, 'x-any': sent },
    ),
    Map: { type: 'object', required: [name], additionalProperties: integer },
    Listed: closed({ q_value: { enum: [name, sent] } }, { example: sent }),
    Cat: {
      type: 'object',
      required: [name, 'q_mew'],
      properties: { [name]: { type: 'string', enum: [name] }, q_mew: integer },
    },
    Dog: {
      type: 'object',
      required: [name, 'q_bark'],
      properties: { [name]: { type: 'string', enum: ['dog'] }, q_bark: integer },
    },
    Pet: {
      oneOf: [{ $ref: '#/components/schemas/Cat' }, { $ref: '#/components/schemas/Dog' }],
      discriminator: {
        propertyName: name,
        mapping: { [name]: '#/components/schemas/Cat', dog: '#/components/schemas/Dog' },
      },
    },
    Later: openapi === '3.0.3' ? integer : { type: 'object', ...later },
    Rest: closed({ [name]: integer }),
  };
  const post = (operationId: string, schema: object, type = 'application/json', more = {}) => ({
    post: {
      operationId,
      requestBody: { content: { [type]: { schema, ...more } } },
      responses: done,
    },
  });
  const encoding = {
    [name]: { contentType: 'text/plain', headers: { [name]: { schema: integer } } },
  };
  return {
    openapi,
    info: { title: 'Names', version: '1' },
    paths: {
      '/tree': post('q_tree', ref, 'application/json', {
        examples: { [name]: { value: sent } },
      }),
      '/map': post('q_map', { $ref: '#/components/schemas/Map' }),
      '/listed': post('q_listed', { $ref: '#/components/schemas/Listed' }),
      '/pet': post('q_pet', { $ref: '#/components/schemas/Pet' }),
      '/later': post('q_later', { $ref: '#/components/schemas/Later' }),
      '/rest': post('q_rest', { $ref: '#/components/schemas/Rest' }),
      '/form': post('q_form', form, 'application/x-www-form-urlencoded', {
        encoding: { [name]: { style: 'form' } },
      }),
      '/multipart': post('q_multipart', form, 'multipart/form-data', { encoding }),
      '/xml': post(
        'q_xml',
        closed(
          { [name]: { ...integer, xml: { name: name.replace('$', '_') } } },
          { xml: { name: 'root' } },
        ),
        'application/xml',
      ),
      [`/path/{${name}}`]: {
        get: {
          operationId: 'q_parameters',
          parameters: [
            { name, in: 'path', required: true, schema: integer },
            { name, in: 'query', schema: integer },
            { name, in: 'header', schema: integer },
            { name, in: 'cookie', schema: integer },
            { name: 'q_deep', in: 'query', style: 'deepObject', schema: form },
            {
              name: 'q_any',
              in: 'query',
              explode: true,
              schema: closed({ [`${name}.x`]: integer }),
            },
            { $ref: `#/components/parameters/${name}` },
          ],
          responses: { 200: { $ref: `#/components/responses/${name}` } },
        },
      },
      '/shared': {
        post: {
          operationId: name,
          requestBody: { $ref: `#/components/requestBodies/${name}` },
          responses: done,
        },
      },
    },
    components: {
      schemas,
      parameters: { [name]: { name: 'q_shared', in: 'query', schema: integer } },
      requestBodies: { [name]: { content: { 'application/json': { schema: form } } } },
      headers: { [name]: { schema: integer } },
      examples: { [name]: { value: sent } },
      responses: {
        [name]: {
          description: 'Done.',
          headers: { [name]: { $ref: `#/components/headers/${name}` } },
          content: { 'application/json': { schema: form } },
        },
      },
    },
    'x-any': sent,
  };
}

interface Sent {
  readonly path: string;
  readonly body?: string;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const multipart = (name: string, value: string, head = '') =>
  `--b\r\nContent-Disposition: form-data; name="${name}"\r\n${head}\r\n${value}\r\n--b--\r\n`;

/** Valid and invalid ones, for each operation. */
function requestsOf(name: string): readonly Sent[] {
  const json = (path: string, ...values: unknown[]) =>
    values.map((value): Sent => ({ path, body: JSON.stringify(value) }));
  const of = (path: string, type: string, ...bodies: string[]) =>
    bodies.map((body): Sent => ({ path, type, body }));
  const shared = { [name]: [{ q_number: 1 }, {}] };
  const wrong = { [name]: [{ q_number: 'x' }], q_next: { [name]: {} } };
  const tree = (leaf: unknown, depth: number): unknown =>
    depth === 0 ? leaf : { [name]: [tree(leaf, depth - 1)], q_next: leaf, q_last: leaf };
  const get = (path: string, headers = {}): Sent => ({ path, headers });
  const at = `/path/1`;
  // `$` cannot be in a name of XML.
  const element = name.replace('$', '_');
  return [
    ...json('/tree', {}, shared, wrong, tree({}, 5), tree({ q_number: 'x' }, 5), { [name]: {} }),
    ...json('/tree', { q_unknown: 1 }, { [name]: [{ [name]: [1] }] }),
    ...json('/map', {}, { [name]: 1 }, { [name]: 'x' }, { q_other: 1 }),
    ...json('/listed', { q_value: name }, { q_value: 'x' }, { q_value: { [name]: 1 } }),
    ...json('/listed', {
      q_value: { [name]: { $ref: 'data', properties: { [name]: 1 } } },
    }),
    ...json(
      '/pet',
      { [name]: name, q_mew: 1 },
      { [name]: 'dog', q_bark: 1 },
      { [name]: name },
      { q_mew: 1 },
    ),
    ...json('/pet', { [name]: 'dog', q_bark: 'x' }, { [name]: 'cow' }, {}),
    ...json('/later', {}, { [name]: 1, b: 1, c: 1 }, { [name]: 'x' }, { [name]: 1 }),
    ...json('/rest', {}, { [name]: 1 }, { [name]: 'x' }),
    ...of(
      '/form',
      'application/x-www-form-urlencoded',
      `${encodeURIComponent(name)}=1`,
      `${encodeURIComponent(name)}=x`,
      'q_unknown=1',
    ),
    ...of(
      '/multipart',
      'multipart/form-data; boundary=b',
      multipart(name, '1'),
      multipart(name, 'x'),
    ),
    ...of(
      '/multipart',
      'multipart/form-data; boundary=b',
      multipart(name, '1', `${name}: 1\r\n`),
      multipart(name, '1', `${name}: x\r\n`),
      multipart('q_other', '1'),
    ),
    ...of(
      '/xml',
      'application/xml',
      ...['1', 'x'].map((text) => `<root><${element}>${text}</${element}></root>`),
    ),
    get(at),
    get('/path/x'),
    get(`${at}?${encodeURIComponent(name)}=1`),
    get(`${at}?${encodeURIComponent(name)}=x&q_deep[${name}]=x&q_shared=x`),
    get(`${at}?q_deep[${encodeURIComponent(name)}]=1&q_shared=1&${encodeURIComponent(name)}.x=x`),
    get(`${at}?q_unknown=1`),
    get(at, { [name]: '1', cookie: `${name}=1` }),
    get(at, { [name]: 'x', cookie: `${name}=x` }),
    ...json('/shared', { [name]: 1 }, { [name]: 'x' }, { q_unknown: 1 }),
  ];
}

/** What a document says of requests and responses. */
function verdictsOf(name: string, openapi: Version) {
  const { compiled, notes } = checkContract(documentOf(name, openapi));
  const contract = atOnce(createContract(atOnce(deserialize(serialize(compiled)))));
  const ask = ({ path, body, type = 'application/json', headers = {} }: Sent) => {
    const own = body === undefined ? [] : ['content-type', type];
    const { status, faults } = contract.validateRequest({
      method: body === undefined ? 'GET' : 'POST',
      url: path,
      headers: [...own, ...Object.entries(headers).flat()],
      body: body ?? null,
    });
    return [status, faults];
  };
  const responses = ['{}', JSON.stringify({ [name]: 1 }), JSON.stringify({ [name]: 'x' })].map(
    (body) =>
      contract.validateResponse({
        method: 'GET',
        url: '/path/1',
        status: 200,
        headers: { 'content-type': 'application/json' },
        body,
      }).faults,
  );
  expect(contract.document).toEqual(documentOf(name, openapi));
  return {
    requests: requestsOf(name).map(ask),
    answers: responses,
    notes: notes.map(({ message }) => message),
    // In a plain document, too, only members and parameters have names.
    names: [...contract.names],
  };
}

describe.each(VERSIONS)('a name that is a keyword elsewhere, in OpenAPI %s', (openapi) => {
  const plain = JSON.stringify(verdictsOf(PLAIN, openapi));

  test.each(keywordsOf(openapi))('%s is a name like any other', (name) => {
    const expected = JSON.parse(plain.replaceAll(PLAIN, name));
    expect(JSON.parse(JSON.stringify(verdictsOf(name, openapi)))).toEqual(expected);
  });
});

test.each(VERSIONS)('a field that every object inherits is unknown, in OpenAPI %s', (openapi) => {
  for (const name of INHERITED) {
    const own = { [name]: 'x' };
    const { notes } = checkContract({
      openapi,
      info: { title: 'Names', version: '1', ...own },
      ...own,
      paths: {
        '/': {
          ...own,
          post: {
            operationId: 'q',
            parameters: [{ name: 'q', in: 'query', schema: { type: 'string', ...own }, ...own }],
            requestBody: {
              content: {
                'application/json': {
                  schema: { $ref: '#/components/schemas/A', ...own },
                  ...own,
                },
              },
              ...own,
            },
            responses: { 200: { description: 'Done.', ...own } },
            ...own,
          },
        },
      },
      components: { schemas: { A: { type: 'object' } }, ...own },
    });
    const unknown = `${name} is not a field that OpenAPI ${openapi.slice(0, 3)} has here: it is ignored`;
    const found = notes.filter(({ message }) => message === unknown);
    expect(found).toHaveLength(openapi === '3.0.3' ? 10 : 11);
  }
});

test('a parameter and a required member may be called __proto__', () => {
  const name = '__proto__';
  const schema = { type: 'object', required: [name], additionalProperties: integer };
  const contract = loadContract({
    openapi: '3.0.3',
    info: { title: 'Names', version: '1' },
    paths: {
      [`/{${name}}`]: {
        post: {
          parameters: [
            { name, in: 'path', required: true, schema: integer },
            { name, in: 'query', schema: integer },
            { name, in: 'cookie', schema: integer },
          ],
          requestBody: { content: { 'application/json': { schema } } },
          responses: done,
        },
      },
    },
  });
  const ask = (value: string) => {
    const { faults, values } = contract.validateRequest({
      method: 'POST',
      url: `/${value}?${name}=${value}`,
      headers: { 'content-type': 'application/json', cookie: `${name}=${value}` },
      body: `{"${value === '1' ? name : 'other'}":1}`,
    });
    return [
      faults.map((fault) => `${fault.in} ${fault.pointer}`),
      Object.keys(values?.query ?? {}),
    ];
  };
  expect(ask('1')).toEqual([[], [name]]);
  expect(ask('x')).toEqual([
    ['path /__proto__', 'query /__proto__', 'cookie /__proto__', 'body /__proto__'],
    [],
  ]);
});

test('an object with a member __proto__ is refused, wherever it stands', () => {
  const places = ['properties', 'example', 'x-any', 'patternProperties', 'discriminator'];
  for (const place of places) {
    const schema = JSON.stringify({ [place]: { a: 1 } }).replace('"a"', '"__proto__"');
    for (const text of [schema, schema.replaceAll('"', "'")])
      expect(
        problemsOf(() => loadText(`{"openapi":"3.1.0","components":{"schemas":{"A":${text}}}}`)),
      ).toEqual([expect.stringMatching(/^1:\d+ .*: the name __proto__ is not supported$/)]);
  }
});
