import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { loadContract, type Operation } from '../src/index.ts';
import {
  asking,
  bodyChecker,
  checker,
  done,
  head,
  json,
  loadText,
  notesOf,
  only,
  problemsOf,
  queryChecker,
  ref,
  short,
  taking,
} from './documents.ts';
import { BOUNDARY, body, field, file, formChecker, part } from './forms.ts';

type Json = Record<string, unknown>;

const modern = { openapi: '3.1.0' };

describe('the versions differ in', () => {
  test.each<[openapi: string, schema: Json, problem: string]>([
    ['3.0.3', { exclusiveMinimum: 1 }, 'must be true or false'],
    ['3.1.0', { exclusiveMinimum: true }, 'must be a number'],
    ['3.0.3', { type: ['string'] }, 'must be array, boolean, integer'],
    ['3.0.3', { type: 'null' }, 'must be array, boolean, integer'],
  ])('what a keyword may be: in %s not %j', (openapi, schema, problem) => {
    const [found] = problemsOf(() => taking(json(schema).content, { openapi }));
    expect(found).toContain(problem);
  });

  test('keywords beside $ref, and what only one has', () => {
    const schema = { ...ref('a'), maxLength: 1 };
    const check = checker(schema, { a: { type: 'string' } }, undefined, '3.1.0');
    expect(check('"ab"')).toEqual(['must have at most 1 character']);
    expect(check('1')).toEqual(['must be a string']);
    expect(notesOf(taking(json({ const: 1 }).content))).toContain(
      'const is not a field that OpenAPI 3.0 has here: it is ignored',
    );
  });

  test('a document without paths, and an operation without responses', () => {
    const text = (openapi: string, more: Json) => JSON.stringify({ ...head, openapi, ...more });
    const missing = { paths: { '/': { get: {} } } };
    expect(problemsOf(() => loadText(text('3.0.3', missing)))[0]).toContain(
      'an operation needs responses',
    );
    const contract = loadText(text('3.1.0', missing));
    expect(only(contract).checkResponse(500, 'text/plain', Buffer.from('x'))).toEqual([]);
    expect(notesOf(contract)).toContain('the operation describes no responses: none is checked');
    expect(problemsOf(() => loadText(text('3.1.0', { components: {} })))).toEqual([
      '1:1: the document has no paths, and so no operations: there is nothing to serve',
    ]);
  });
});

describe('OpenAPI 3.2', () => {
  const of = (item: Json, more: Json = {}, onUnsupported?: 'omit') =>
    loadText(JSON.stringify({ ...head, openapi: '3.2.0', paths: { '/a': item }, ...more }), {
      onUnsupported,
    });
  const get = { operationId: 'getA', responses: done };
  const withContent = (media: Json) => {
    const requestBody = { content: { 'application/json': media } };
    return { get, put: { operationId: 'putA', requestBody, responses: done } };
  };
  const idsOf = (all: readonly { readonly id: string }[]) => all.map(({ id }) => id);

  test('is read where it adds nothing to what is checked', () => {
    const responses = { 200: { summary: 'Done.', description: 'Done.' } };
    const contract = of({ get: { ...get, responses } });
    expect([idsOf(contract.operations), notesOf(contract)]).toEqual([['getA'], []]);
  });

  test.each<[what: string, item: Json, more?: Json]>([
    ['query', { get, query: { responses: done } }],
    ['additionalOperations', { get, additionalOperations: { COPY: { responses: done } } }],
    ['itemSchema', withContent({ itemSchema: {} })],
    ['prefixEncoding', withContent({ prefixEncoding: [] })],
    ['$self', { get }, { $self: 'https://example.com/api' }],
  ])('%s is a mistake, which is named', (name, item, ...[more]) => {
    expect(problemsOf(() => of(item, more))).toEqual([
      expect.stringContaining(
        `${name} of OpenAPI 3.2 is not supported: requests or responses of it cannot be checked`,
      ),
    ]);
  });

  test('a parameter in querystring is a mistake', () => {
    const parameters = [{ name: 'q', in: 'querystring', content: { 'application/json': {} } }];
    expect(problemsOf(() => of({ get: { ...get, parameters } }))[0]).toContain(
      'must be path, query, header or cookie',
    );
  });

  test('mistakes are those of their operation', () => {
    const media = of(withContent({ itemSchema: {} }), {}, 'omit');
    expect([media.operations, media.exempted].map(idsOf)).toEqual([['getA'], ['putA']]);
    const method = of({ get, query: { responses: done } }, {}, 'omit');
    expect(idsOf(method.operations)).toEqual(['getA']);
  });
});

describe('a document of 3.1 in several files', () => {
  const contract = loadContract(`${import.meta.dirname}/fixtures/garden/openapi.yaml`);
  const operation = (id: string): Operation => contract.operations.find((one) => one.id === id)!;
  const checkIn = ({ body }: Operation, text: string, type = 'application/json') =>
    short(body!.media(type)!.check(Buffer.from(text))).sort();

  test.each<[id: string, text: string, ...faults: string[]]>([
    ['addPlant', '{"name":"rose","height":0.5,"seeds":["first",1,2],"note":null}'],
    [
      'addPlant',
      '{"name":"r","height":0,"seeds":["x","y"],"note":"abcdef"}',
      '/height must be more than 0',
      '/name must have at least 2 characters',
      '/note must have at most 5 characters',
      '/seeds/0 must be first',
      '/seeds/1 must be an integer',
    ],
    ['addPlant', '{"name":"sunflower"}', '/name must have at most 6 characters'],
    ['addPlant', '{"name":"rose","color":1}', '/color is not defined in the contract'],
    ['putTree', '{"branches":[{"leaves":3,"branches":[]}]}'],
    [
      'putTree',
      '{"branches":[{"leafs":3}]}',
      '/branches/0/leafs is not defined in the contract: did you mean leaves?',
    ],
  ])('has anchors, dynamic references and pointers: %s of %s', (id, text, ...faults) => {
    expect(checkIn(operation(id), text)).toEqual(faults);
  });

  test('has path items, bodies and mapped schemas of other files with all that a schema may be', () => {
    const folder = mkdtempSync(join(tmpdir(), 'contract-'));
    const write = (name: string, value: unknown) =>
      writeFileSync(join(folder, name), JSON.stringify(value));
    const $defs = { x: { $anchor: 'y', type: 'string' } };
    const properties = { a: { $ref: '#y' }, b: false };
    const anchored = json({ $id: 'https://example.com/s', $defs, properties });
    write('item.json', { post: { requestBody: anchored } });
    write('bodies.json', { B: json({ properties: { a: false }, prefixItems: [true, false] }) });
    write('kinds.json', { C: { properties: { a: false } } });
    const discriminator = { propertyName: 'k', mapping: { c: 'kinds.json#/C' } };
    const schemas = { P: { oneOf: [{ $ref: 'kinds.json#/C' }], discriminator } };
    const paths = {
      '/item': { $ref: 'item.json' },
      '/body': { post: { requestBody: { $ref: 'bodies.json#/B' } } },
      '/kind': { post: { requestBody: json(ref('P')) } },
    };
    write('main.json', { ...head, openapi: '3.1.0', components: { schemas }, paths });
    const loaded = loadContract(join(folder, 'main.json'));
    rmSync(folder, { recursive: true });
    const judge = (path: string, text: string) =>
      checkIn(loaded.match('POST', path).operation!, text);
    const refused = 'must not match the excluded schema';
    expect(judge('/item', '{"a":"x"}')).toEqual([]);
    expect(judge('/item', '{"a":1,"b":1}')).toEqual(['/a must be a string', `/b ${refused}`]);
    expect(judge('/body', '{"a":1}')).toEqual([`/a ${refused}`]);
    expect(judge('/body', '[1,1]')).toEqual([`/1 ${refused}`]);
    expect(judge('/kind', '{"k":"c"}')).toEqual([]);
    expect(judge('/kind', '{"k":"c","a":1}')).toEqual([`/a ${refused}`]);
  });

  test.each<[id: string, query: string, ...faults: string[]]>([
    ['7', 'color=green&rows=1&rows=2&free=x&when=5&any=1'],
    ['7', 'when=tomorrow'],
    ['0', '', '/bedId must be more than 0'],
    ['null', '', '/bedId must be an integer or null'],
    ['7', 'color=red', '/color must be green'],
    ['7', 'rows=1&rows=x', '/rows/1 must be an integer'],
  ])('has parameters of several types, of none, and of null: %s?%s', (id, query, ...faults) => {
    expect(short(operation('getBed').checkParameters([id], query, []))).toEqual(faults);
  });

  const bytes = 'Content-Type: application/octet-stream';
  const seal = part(`Content-Disposition: form-data; name="seal"\n${bytes}`, 'YWJj');
  const name = field('name', 'rose');

  test.each<[what: string, parts: string[], ...faults: string[]]>([
    ['all', [name, file('photo', '\u0000', 'image/png'), seal, field('size', '1.5')]],
    ['few', [field('name', '5'), field('seal', 'YWJj')]],
    ['a text', [name, field('photo', 'x')], '/photo is a file: it needs a filename'],
    ['a long text', [name, field('seal', 'YWJjYWJjYWJj')], '/seal must have at most 8 characters'],
    ['others', [name, field('other', 'x')], '/other is not defined in the contract'],
    [
      'a size',
      [name, field('size', 'x')],
      '/size must be a number (in one of the schemas)',
      '/size must be null (in one of the schemas)',
      '/size must match one of the schemas',
    ],
  ])('has forms, whose files contentMediaType describes: %s', (_what, parts, ...faults) => {
    const type = `multipart/form-data; boundary=${BOUNDARY}`;
    expect(checkIn(operation('addPlant'), body(...parts), type)).toEqual(faults);
  });

  test('is served in one piece, which means the same, without identifiers that would change its references', () => {
    expect(contract.json).not.toMatch(/"\$(?:id|anchor|dynamicAnchor)"/);
    const refs = [...contract.json.matchAll(/"\$(?:dynamicRef|ref)": "([^"]*)"/g)];
    expect(refs.filter(([, target]) => !target!.startsWith('#/components/'))).toEqual([]);
    const again = loadText(contract.json);
    const judge = (method: string, path: string, text: string) =>
      checkIn(again.match(method, path).operation!, text);
    expect(judge('POST', '/plants', '{"name":"rose","color":1}')).toEqual([
      '/color is not defined in the contract',
    ]);
    expect(judge('PUT', '/trees', '{"branches":"x"}')).toEqual(['/branches must be a list']);
  });

  test.each([
    'webhooks are ignored: they are requests of the service, not to it',
    'contentEncoding is not enforced: it describes what is in the text',
  ])('has the note %s', (note) => {
    expect(notesOf(contract)).toContain(note);
  });
});

describe.each(['binary', 'base64', '7bit'])('a part of contentEncoding %s', (contentEncoding) => {
  const encoded = { type: 'string', contentEncoding, maxLength: 8 };
  const check = (schema: Json, encoding: Json = {}) => {
    const properties = { f: schema, list: { type: 'array', items: schema } };
    return formChecker({ type: 'object', properties }, { f: encoding }, modern);
  };
  const bare = part('Content-Disposition: form-data; name="f"; filename="a.png"', 'YWJj');
  const png = (content: string) => file('f', content, 'image/png');

  test.each<[what: string, schema: Json, parts: string[], ...faults: string[]]>([
    ['no type and no filename', encoded, [field('f', 'YWJj')]],
    ['no type and a filename', encoded, [bare]],
    ['the default type', encoded, [file('f', 'YWJj')]],
    ['the type of an image', encoded, [png('YWJj')]],
    ['a type of JSON', encoded, [file('f', 'YWJj', 'application/json')]],
    ['a type of text', encoded, [file('f', 'YWJj', 'text/plain')]],
    ['several entries', encoded, [file('list', 'YWJj', 'image/png'), field('list', 'YWJj')]],
    ['a long text', encoded, [png('YWJjYWJjYWJj')], '/f must have at most 8 characters'],
    ['a pattern', { ...encoded, pattern: '^Y' }, [png('xWJj')], '/f must match the pattern ^Y'],
    ['parts', encoded, [file('f', 'YWJj', 'multipart/mixed')], '/f must not have parts itself'],
  ])('with %s', (_what, schema, parts, ...faults) => {
    expect(check(schema)(body(...parts))).toEqual(faults);
  });

  test('has the types of its encoding only', () => {
    const images = check(encoded, { contentType: 'image/png' });
    expect(images(body(png('YWJj')))).toEqual([]);
    expect(images(body(file('f', 'YWJj', 'image/gif')))).toEqual(['/f must be of type image/png']);
  });
});

describe('where values are text', () => {
  const note = (keyword: string) =>
    `outside of JSON, ${keyword} does not say how text is read: numbers and booleans that only it describes are refused`;
  const parameter = (schema: Json) => [{ name: 'q', in: 'query', schema }];

  test.each<[schema: Json, ...noted: string[]]>([
    [{ type: 'array', prefixItems: [{ type: 'integer' }] }, 'prefixItems'],
    [{ type: 'object', unevaluatedProperties: { type: 'integer' } }, 'unevaluatedProperties'],
    [{ type: 'object', unevaluatedProperties: false }],
  ])('a parameter notes the keywords that do not say how it is read: %j', (schema, ...noted) => {
    expect(notesOf(asking(parameter(schema), modern))).toEqual(noted.map(note));
  });

  test('entries that only prefixItems describes are texts', () => {
    const prefix = { type: 'array', prefixItems: [{ type: 'integer' }], items: { type: 'string' } };
    const check = queryChecker(asking(parameter(prefix), modern));
    expect(check('q=1&q=b')).toEqual(['/q/0 must be an integer']);
  });

  test.each(['pass', 'refuse'] as const)(
    'an exploded object owns the names that only a pattern has (%s)',
    (unknownQuery) => {
      const patternProperties = { '^x-': { maxLength: 2 } };
      const schema = { type: 'object', patternProperties, additionalProperties: false };
      const reading = { unknownQuery };
      const check = queryChecker(asking(parameter(schema), { ...modern, reading }));
      expect(check('x-a=ab')).toEqual([]);
      expect(check('x-a=abc')).toEqual(['/q/x-a must have at most 2 characters']);
      expect(check('y=1')).toEqual(['/q/y is not defined in the contract']);
    },
  );

  test.each(['application/x-www-form-urlencoded', 'multipart/form-data', 'application/xml'])(
    '%s too',
    (type) => {
      const schema = { type: 'object', patternProperties: { '^x': { type: 'string' } } };
      expect(notesOf(taking({ [type]: { schema } }, modern))).toContain(note('patternProperties'));
    },
  );

  test('XML has the members of a reference and of the keywords beside it', () => {
    const schema = { ...ref('a'), properties: { b: { type: ['integer', 'null'] } } };
    const a = { type: 'object', properties: { a: { type: 'integer' } }, required: ['a'] };
    const contract = taking({ 'application/xml': { schema } }, { ...modern, schemas: { a } });
    const check = bodyChecker(contract, 'application/xml');
    expect(check('<a><a>1</a><b>2</b></a>')).toEqual([]);
    expect(check('<a><b>y</b></a>').sort()).toEqual([
      '/a is required',
      '/b must be an integer or null',
    ]);
  });
});
