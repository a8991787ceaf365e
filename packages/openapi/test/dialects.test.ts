import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { loadContract, type Operation } from '../src/index.ts';
import {
  checker,
  done,
  head,
  load,
  loadText,
  notesOf,
  only,
  problemsOf,
  short,
} from './documents.ts';
import { BOUNDARY, body, field, file, formChecker, part } from './forms.ts';

type Json = Record<string, unknown>;

const in30 = (schema: Json, schemas: Json = {}) => checker(schema, schemas, undefined, '3.0.3');
const in31 = (schema: Json, schemas: Json = {}) => checker(schema, schemas, undefined, '3.1.0');

describe('the versions differ in', () => {
  test('nullable', () => {
    const schema = { type: 'string', nullable: true };
    expect(in30(schema)('null')).toEqual([]);
    expect(in31(schema)('null')).toEqual(['must be a string']);
  });

  test('exclusive limits', () => {
    expect(in30({ minimum: 1, exclusiveMinimum: true })('1')).toEqual(['must be more than 1']);
    expect(in31({ exclusiveMinimum: 1 })('1')).toEqual(['must be more than 1']);
    expect(problemsOf(() => void in30({ exclusiveMinimum: 1 }) as never)[0]).toContain(
      'must be true or false',
    );
    expect(problemsOf(() => void in31({ exclusiveMinimum: true }) as never)[0]).toContain(
      'must be a number',
    );
  });

  test('keywords beside $ref', () => {
    const schema = { $ref: '#/components/schemas/a', maxLength: 1 };
    const schemas = { a: { type: 'string' } };
    expect(in30(schema, schemas)('"ab"')).toEqual([]);
    expect(in31(schema, schemas)('"ab"')).toEqual(['must have at most 1 character']);
    expect(in31(schema, schemas)('1')).toEqual(['must be a string']);
  });

  test('what a type may be', () => {
    expect(problemsOf(() => void in30({ type: ['string'] }) as never)[0]).toContain(
      'must be array, boolean, integer',
    );
    expect(problemsOf(() => void in30({ type: 'null' }) as never)[0]).toContain(
      'must be array, boolean, integer',
    );
    expect(in31({ type: ['string'] })('1')).toEqual(['must be a string']);
  });

  test('keywords that only one has', () => {
    const schema = {
      const: 1,
      contains: {},
      propertyNames: false,
      unevaluatedProperties: false,
      prefixItems: [false],
    };
    for (const text of ['2', '[]', '[1]', '{"a":1}']) expect(in30(schema)(text)).toEqual([]);
    for (const text of ['2', '[]', '[1]', '{"a":1}']) expect(in31(schema)(text)).not.toEqual([]);
    const content = { 'application/json': { schema } };
    const paths = { '/': { post: { requestBody: { content }, responses: done } } };
    expect(notesOf(load(paths))).toContain(
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
  const of = (item: Json, more: Json = {}, leniency?: 'omit') =>
    loadText(JSON.stringify({ ...head, openapi: '3.2.0', paths: { '/a': item }, ...more }), {
      onUnsupported: leniency,
    });
  const get = { operationId: 'getA', responses: done };
  const foreign = (name: string) =>
    `${name} of OpenAPI 3.2 is not supported: requests or responses of it cannot be checked`;
  const withContent = (media: Json) => ({
    get,
    put: {
      operationId: 'putA',
      requestBody: { content: { 'application/json': media } },
      responses: done,
    },
  });

  test('is read where it adds nothing to what is checked', () => {
    const contract = of({
      get: { ...get, responses: { 200: { summary: 'Done.', description: 'Done.' } } },
    });
    expect(contract.operations.map(({ id }) => id)).toEqual(['getA']);
    expect(notesOf(contract)).toEqual([]);
  });

  test.each<[what: string, item: Json, more: Json]>([
    ['query', { get, query: { responses: done } }, {}],
    ['additionalOperations', { get, additionalOperations: { COPY: { responses: done } } }, {}],
    ['itemSchema', withContent({ itemSchema: {} }), {}],
    ['prefixEncoding', withContent({ prefixEncoding: [] }), {}],
    ['$self', { get }, { $self: 'https://example.com/api' }],
  ])('%s is a mistake, which is named', (name, item, more) => {
    const [found, ...others] = problemsOf(() => of(item, more));
    expect(found).toContain(foreign(name));
    expect(others).toEqual([]);
  });

  test('a parameter in querystring is a mistake', () => {
    const parameters = [{ name: 'q', in: 'querystring', content: { 'application/json': {} } }];
    expect(problemsOf(() => of({ get: { ...get, parameters } }))[0]).toContain(
      'must be path, query, header or cookie',
    );
  });

  test('mistakes are those of their operation', () => {
    const media = of(withContent({ itemSchema: {} }), {}, 'omit');
    expect(media.operations.map(({ id }) => id)).toEqual(['getA']);
    expect(media.exempted.map(({ id }) => id)).toEqual(['putA']);
    const method = of({ get, query: { responses: done } }, {}, 'omit');
    expect(method.operations.map(({ id }) => id)).toEqual(['getA']);
  });
});

describe('a document of 3.1 in several files', () => {
  const contract = loadContract(`${import.meta.dirname}/fixtures/garden/openapi.yaml`);
  const operation = (id: string): Operation => contract.operations.find((one) => one.id === id)!;
  const post = (id: string, text: string) =>
    short(operation(id).body!.media('application/json')!.check(Buffer.from(text)));
  const bed = (id: string, query = '') =>
    short(operation('getBed').checkParameters([id], query, []));

  test('has anchors and pointers into other files', () => {
    expect(
      post('addPlant', '{"name":"rose","height":0.5,"seeds":["first",1,2],"note":null}'),
    ).toEqual([]);
    expect(
      post('addPlant', '{"name":"r","height":0,"seeds":["x","y"],"note":"abcdef"}').sort(),
    ).toEqual([
      '/height must be more than 0',
      '/name must have at least 2 characters',
      '/note must have at most 5 characters',
      '/seeds/0 must be first',
      '/seeds/1 must be an integer',
    ]);
    expect(post('addPlant', '{"name":"sunflower"}')).toEqual([
      '/name must have at most 6 characters',
    ]);
    expect(post('addPlant', '{"name":"rose","color":1}')).toEqual([
      '/color is not defined in the contract',
    ]);
  });

  test('has path items, bodies and mapped schemas of other files with all that a schema may be', () => {
    const bodyOf = (schema: Json) => ({ content: { 'application/json': { schema } } });
    const folder = mkdtempSync(join(tmpdir(), 'contract-'));
    const write = (name: string, value: unknown) =>
      writeFileSync(join(folder, name), JSON.stringify(value));
    const anchored = {
      $id: 'https://example.com/s',
      $defs: { x: { $anchor: 'y', type: 'string' } },
    };
    write('item.json', {
      post: { requestBody: bodyOf({ ...anchored, properties: { a: { $ref: '#y' }, b: false } }) },
    });
    write('bodies.json', { B: bodyOf({ properties: { a: false }, prefixItems: [true, false] }) });
    write('kinds.json', { C: { properties: { a: false } } });
    const discriminator = { propertyName: 'k', mapping: { c: 'kinds.json#/C' } };
    const schemas = {
      P: { oneOf: [{ $ref: 'kinds.json#/C' }], discriminator },
    };
    write('main.json', {
      ...head,
      openapi: '3.1.0',
      components: { schemas },
      paths: {
        '/item': { $ref: 'item.json' },
        '/body': { post: { requestBody: { $ref: 'bodies.json#/B' } } },
        '/kind': { post: { requestBody: bodyOf({ $ref: '#/components/schemas/P' }) } },
      },
    });
    const loaded = loadContract(join(folder, 'main.json'));
    rmSync(folder, { recursive: true });
    const judge = (path: string, text: string) =>
      short(
        loaded
          .match('POST', path)
          .operation!.body!.media('application/json')!
          .check(Buffer.from(text)),
      );
    const refused = 'must not match the excluded schema';
    expect(judge('/item', '{"a":"x"}')).toEqual([]);
    expect(judge('/item', '{"a":1,"b":1}')).toEqual(['/a must be a string', `/b ${refused}`]);
    expect(judge('/body', '{"a":1}')).toEqual([`/a ${refused}`]);
    expect(judge('/body', '[1,1]')).toEqual([`/1 ${refused}`]);
    expect(judge('/kind', '{"k":"c"}')).toEqual([]);
    expect(judge('/kind', '{"k":"c","a":1}')).toEqual([`/a ${refused}`]);
  });

  test('has dynamic references', () => {
    expect(post('putTree', '{"branches":[{"leaves":3,"branches":[]}]}')).toEqual([]);
    expect(post('putTree', '{"branches":[{"leafs":3}]}')).toEqual([
      '/branches/0/leafs is not defined in the contract: did you mean leaves?',
    ]);
  });

  test('has parameters of several types, of none, and of null', () => {
    expect(bed('7', 'color=green&rows=1&rows=2&free=x&when=5&any=1')).toEqual([]);
    expect(bed('7', 'when=tomorrow')).toEqual([]);
    expect(bed('0')).toEqual(['/bedId must be more than 0']);
    expect(bed('null')).toEqual(['/bedId must be an integer or null']);
    expect(bed('7', 'color=red')).toEqual(['/color must be green']);
    expect(bed('7', 'rows=1&rows=x')).toEqual(['/rows/1 must be an integer']);
  });

  test('has forms, whose files contentMediaType describes', () => {
    const form = operation('addPlant').body!.media(`multipart/form-data; boundary=${BOUNDARY}`)!;
    const check = (...parts: string[]) => short(form.check(Buffer.from(body(...parts))));
    const bytes = 'Content-Type: application/octet-stream';
    const seal = part(`Content-Disposition: form-data; name="seal"\n${bytes}`, 'YWJj');
    expect(
      check(
        field('name', 'rose'),
        file('photo', '\u0000', 'image/png'),
        seal,
        field('size', '1.5'),
      ),
    ).toEqual([]);
    expect(check(field('name', '5'), field('seal', 'YWJj'))).toEqual([]);
    expect(check(field('name', 'rose'), field('photo', 'x'))).toEqual([
      '/photo is a file: it needs a filename',
    ]);
    expect(check(field('name', 'rose'), field('seal', 'YWJjYWJjYWJj'))).toEqual([
      '/seal must have at most 8 characters',
    ]);
    expect(check(field('name', 'rose'), field('other', 'x'))).toEqual([
      '/other is not defined in the contract',
    ]);
    expect(check(field('name', 'rose'), field('size', 'x'))).not.toEqual([]);
  });

  describe.each(['binary', 'base64', '7bit'])('a part of contentEncoding %s', (contentEncoding) => {
    const encoded = { type: 'string', contentEncoding, maxLength: 8 };
    const check = (schema: Json, encoding: Json = {}) => {
      const properties = { f: schema, list: { type: 'array', items: schema } };
      return formChecker({ type: 'object', properties }, { f: encoding }, {}, {}, '3.1.0');
    };

    test.each<[what: string, ...parts: string[]]>([
      ['no type and no filename', field('f', 'YWJj')],
      [
        'no type and a filename',
        part('Content-Disposition: form-data; name="f"; filename="a.png"', 'YWJj'),
      ],
      ['the default type', file('f', 'YWJj')],
      ['the type of an image', file('f', 'YWJj', 'image/png')],
      ['a type of JSON', file('f', 'YWJj', 'application/json')],
      ['a type of text', file('f', 'YWJj', 'text/plain')],
      ['several entries', file('list', 'YWJj', 'image/png'), field('list', 'YWJj')],
    ])('may have %s', (_what, ...parts) => {
      expect(check(encoded)(body(...parts))).toEqual([]);
    });

    test('has its text checked', () => {
      expect(check(encoded)(body(file('f', 'YWJjYWJjYWJj', 'image/png')))).toEqual([
        '/f must have at most 8 characters',
      ]);
      expect(check({ ...encoded, pattern: '^Y' })(body(file('f', 'xWJj', 'image/png')))).toEqual([
        '/f must match the pattern ^Y',
      ]);
    });

    test('has the types of its encoding only', () => {
      const png = check(encoded, { contentType: 'image/png' });
      expect(png(body(file('f', 'YWJj', 'image/png')))).toEqual([]);
      expect(png(body(file('f', 'YWJj', 'image/gif')))).toEqual(['/f must be of type image/png']);
    });

    test('must have no parts itself', () => {
      expect(check(encoded)(body(file('f', 'YWJj', 'multipart/mixed')))).toEqual([
        '/f must not have parts itself',
      ]);
    });
  });

  test('is served in one piece, which means the same, without identifiers that would change its references', () => {
    expect(contract.json).not.toMatch(/"\$(?:id|anchor|dynamicAnchor)"/);
    const refs = [...contract.json.matchAll(/"\$(?:dynamicRef|ref)": "([^"]*)"/g)].map(
      ([, ref]) => ref,
    );
    expect(refs.filter((ref) => !ref!.startsWith('#/components/'))).toEqual([]);
    const again = loadText(contract.json);
    const media = again.match('POST', '/plants').operation!.body!.media('application/json')!;
    expect(short(media.check(Buffer.from('{"name":"rose","color":1}')))).toEqual([
      '/color is not defined in the contract',
    ]);
    const tree = again.match('PUT', '/trees').operation!.body!.media('application/json')!;
    expect(short(tree.check(Buffer.from('{"branches":"x"}')))).toEqual([
      '/branches must be a list',
    ]);
  });

  test('has notes about what is not enforced', () => {
    expect(notesOf(contract)).toContain(
      'webhooks are ignored: they are requests of the service, not to it',
    );
    expect(notesOf(contract)).toContain(
      'contentEncoding is not enforced: it describes what is in the text',
    );
  });
});

describe('where values are text', () => {
  const prefix = { type: 'array', prefixItems: [{ type: 'integer' }], items: { type: 'string' } };
  const note = (keyword: string) =>
    `outside of JSON, ${keyword} does not say how text is read: numbers and booleans that only it describes are refused`;

  test('a parameter notes the keywords that do not say how it is read', () => {
    const parameters = [{ name: 'a', in: 'query', schema: prefix }];
    const contract = load(
      { '/': { get: { parameters, responses: done } } },
      {},
      undefined,
      '3.1.0',
    );
    expect(notesOf(contract)).toEqual([note('prefixItems')]);
    expect(short(only(contract).checkParameters([], 'a=1&a=b', []))).toEqual([
      '/a/0 must be an integer',
    ]);
  });

  test('a parameter notes unevaluatedProperties where they describe something', () => {
    const notesFor = (unevaluatedProperties: unknown) => {
      const parameters = [
        { name: 'a', in: 'query', schema: { type: 'object', unevaluatedProperties } },
      ];
      return notesOf(
        load({ '/': { get: { parameters, responses: done } } }, {}, undefined, '3.1.0'),
      );
    };
    expect(notesFor({ type: 'integer' })).toEqual([note('unevaluatedProperties')]);
    expect(notesFor(false)).toEqual([]);
  });

  test.each(['pass', 'refuse'] as const)(
    'an exploded object owns the names that only a pattern has (%s)',
    (unknownQuery) => {
      const schema = {
        type: 'object',
        patternProperties: { '^x-': { maxLength: 2 } },
        additionalProperties: false,
      };
      const parameters = [{ name: 'q', in: 'query', schema }];
      const contract = load(
        { '/': { get: { parameters, responses: done } } },
        {},
        { unknownQuery },
        '3.1.0',
      );
      const judge = (query: string) => short(only(contract).checkParameters([], query, []));
      expect(judge('x-a=ab')).toEqual([]);
      expect(judge('x-a=abc')).toEqual(['/q/x-a must have at most 2 characters']);
      expect(judge('y=1')).toEqual(['/q/y is not defined in the contract']);
    },
  );

  test.each(['application/x-www-form-urlencoded', 'multipart/form-data', 'application/xml'])(
    '%s too',
    (type) => {
      const schema = { type: 'object', patternProperties: { '^x': { type: 'string' } } };
      const requestBody = { content: { [type]: { schema } } };
      const contract = load(
        { '/': { post: { requestBody, responses: done } } },
        {},
        undefined,
        '3.1.0',
      );
      expect(notesOf(contract)).toContain(note('patternProperties'));
    },
  );

  test('XML has the members of a reference and of the keywords beside it', () => {
    const schema = {
      $ref: '#/components/schemas/a',
      properties: { b: { type: ['integer', 'null'] } },
    };
    const requestBody = { content: { 'application/xml': { schema } } };
    const schemas = {
      a: { type: 'object', properties: { a: { type: 'integer' } }, required: ['a'] },
    };
    const contract = load(
      { '/': { post: { requestBody, responses: done } } },
      { schemas },
      undefined,
      '3.1.0',
    );
    const media = only(contract).body!.media('application/xml')!;
    const check = (text: string) => short(media.check(Buffer.from(text)));
    expect(check('<a><a>1</a><b>2</b></a>')).toEqual([]);
    expect(check('<a><b>y</b></a>').sort()).toEqual([
      '/a is required',
      '/b must be an integer or null',
    ]);
  });
});
