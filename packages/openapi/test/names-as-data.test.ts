import { describe, expect, test } from '@jest/globals';
import { isDeep } from '../../../test/runner/fast-check.ts';
import { dialectOf } from '../src/dialect/dialect.ts';
import {
  checkContract,
  createContract,
  deserialize,
  loadContract,
  serialize,
} from '../src/index.ts';
import { atOnce } from '../src/slices.ts';
import { done, head, json, loadText, problemsOf, ref as schemaRef } from './documents.ts';

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

/** Where another version has the same name. */
const FEW = ['$ref', 'properties', 'constructor', 'schema', 'mapping'];

const schemaKeywords = (openapi: Version) => Object.keys(dialectOf({ openapi })!.grammar.schema);

/** Usually those that 3.1 has are tested in 3.1 alone; 3.2 has the schemas of 3.1. */
function keywordsOf(openapi: Version): string[] {
  const own = openapi === '3.2.0' ? [] : schemaKeywords(openapi);
  if (isDeep || openapi === '3.1.1') return [...new Set([...own, ...OTHERS])];
  const tested = new Set(schemaKeywords('3.1.1'));
  return [...own.filter((name) => !tested.has(name)), ...FEW];
}

const integer = { type: 'integer' };

/** The name stands in every place where a name is data. */
function documentOf(name: string, openapi: Version) {
  const ref = schemaRef(name);
  const closed = (properties: object, more: object = {}) => ({
    type: 'object',
    additionalProperties: false,
    properties,
    ...more,
  });
  const kind = (value: string, member: string) => ({
    type: 'object',
    required: [name, member],
    properties: { [name]: { type: 'string', enum: [value] }, [member]: integer },
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
    Cat: kind(name, 'q_mew'),
    Dog: kind('dog', 'q_bark'),
    Pet: {
      oneOf: [schemaRef('Cat'), schemaRef('Dog')],
      discriminator: {
        propertyName: name,
        mapping: { [name]: schemaRef('Cat').$ref, dog: schemaRef('Dog').$ref },
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
  const xml = { name: name.replace('$', '_') };
  const element = closed({ [name]: { ...integer, xml } }, { xml: { name: 'root' } });
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
      '/map': post('q_map', schemaRef('Map')),
      '/listed': post('q_listed', schemaRef('Listed')),
      '/pet': post('q_pet', schemaRef('Pet')),
      '/later': post('q_later', schemaRef('Later')),
      '/rest': post('q_rest', schemaRef('Rest')),
      '/form': post('q_form', form, 'application/x-www-form-urlencoded', {
        encoding: { [name]: { style: 'form' } },
      }),
      '/multipart': post('q_multipart', form, 'multipart/form-data', { encoding }),
      '/xml': post('q_xml', element, 'application/xml'),
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
  const encoded = encodeURIComponent(name);
  // `$` cannot be in a name of XML.
  const element = name.replace('$', '_');
  const shared = { [name]: [{ q_number: 1 }, {}] };
  const wrong = { [name]: [{ q_number: 'x' }], q_next: { [name]: {} } };
  const tree = (leaf: unknown, depth: number): unknown =>
    depth === 0 ? leaf : { [name]: [tree(leaf, depth - 1)], q_next: leaf, q_last: leaf };
  const trees = [{}, shared, wrong, tree({}, 5), tree({ q_number: 'x' }, 5), { [name]: {} }];
  const listed = [name, 'x', { [name]: 1 }];
  const data = { [name]: { $ref: 'data', properties: { [name]: 1 } } };
  const [cat, dog] = [{ [name]: name }, { [name]: 'dog' }];
  const values: Readonly<Record<string, readonly unknown[]>> = {
    '/tree': [...trees, { q_unknown: 1 }, { [name]: [{ [name]: [1] }] }],
    '/map': [{}, { [name]: 1 }, { [name]: 'x' }, { q_other: 1 }],
    '/listed': [...listed, data].map((q_value) => ({ q_value })),
    '/pet': [
      ...[{ ...cat, q_mew: 1 }, { ...dog, q_bark: 1 }, cat, { q_mew: 1 }],
      ...[{ ...dog, q_bark: 'x' }, { [name]: 'cow' }, {}],
    ],
    '/later': [{}, { [name]: 1, b: 1, c: 1 }, { [name]: 'x' }, { [name]: 1 }],
    '/rest': [{}, { [name]: 1 }, { [name]: 'x' }],
    '/shared': [{ [name]: 1 }, { [name]: 'x' }, { q_unknown: 1 }],
  };
  const parts = [
    ...['1', 'x'].map((value) => multipart(name, value)),
    ...['1', 'x'].map((header) => multipart(name, '1', `${name}: ${header}\r\n`)),
    multipart('q_other', '1'),
  ];
  const texts: readonly (readonly [path: string, type: string, bodies: readonly string[]])[] = [
    ['/form', 'application/x-www-form-urlencoded', [`${encoded}=1`, `${encoded}=x`, 'q_unknown=1']],
    ['/multipart', 'multipart/form-data; boundary=b', parts],
    [
      '/xml',
      'application/xml',
      ['1', 'x'].map((text) => `<root><${element}>${text}</${element}></root>`),
    ],
  ];
  const targets = [
    '/path/1',
    '/path/x',
    `/path/1?${encoded}=1`,
    `/path/1?${encoded}=x&q_deep[${name}]=x&q_shared=x`,
    `/path/1?q_deep[${encoded}]=1&q_shared=1&${encoded}.x=x`,
    '/path/1?q_unknown=1',
  ];
  const headers = ['1', 'x'].map((value) => ({ [name]: value, cookie: `${name}=${value}` }));
  return [
    ...Object.entries(values).flatMap(([path, all]) =>
      all.map((value) => ({ path, body: JSON.stringify(value) })),
    ),
    ...texts.flatMap(([path, type, bodies]) => bodies.map((body) => ({ path, type, body }))),
    ...targets.map((path) => ({ path })),
    ...headers.map((all) => ({ path: '/path/1', headers: all })),
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
  const message = { method: 'GET', url: '/path/1', status: 200 };
  const headers = { 'content-type': 'application/json' };
  const responses = [{}, { [name]: 1 }, { [name]: 'x' }].map(
    (value) =>
      contract.validateResponse({ ...message, headers, body: JSON.stringify(value) }).faults,
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
    const parameter = { name: 'q', in: 'query', schema: { type: 'string', ...own }, ...own };
    const media = { schema: { ...schemaRef('A'), ...own }, ...own };
    const post = {
      operationId: 'q',
      parameters: [parameter],
      requestBody: { content: { 'application/json': media }, ...own },
      responses: { 200: { description: 'Done.', ...own } },
      ...own,
    };
    const { notes } = checkContract({
      openapi,
      info: { title: 'Names', version: '1', ...own },
      ...own,
      paths: { '/': { ...own, post } },
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
  const parameters = ['path', 'query', 'cookie'].map((place) => ({
    name,
    in: place,
    required: place === 'path',
    schema: integer,
  }));
  const post = { parameters, requestBody: json(schema), responses: done };
  const contract = loadContract({ ...head, paths: { [`/{${name}}`]: { post } } });
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
