import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseMediaType } from '../src/media/type.ts';
import { done, load, notesOf, only, problemsOf, short } from './documents.ts';

const integer = { schema: { type: 'object', properties: { a: { type: 'integer' } } } };

const contractOf = (content: object, rest: object = {}) =>
  load({ '/': { post: { requestBody: { content, ...rest }, responses: done } } });

const bodyOf = (content: object) => only(contractOf(content)).body!;

const bytes = (text: string) => new TextEncoder().encode(text);

function send(content: object, type: string | undefined, text: string): string[] | '415' {
  const rule = bodyOf(content).media(type);
  return rule ? short(rule.check(bytes(text))) : '415';
}

describe('parseMediaType', () => {
  test.each([
    ['application/json', 'application/json', []],
    [' Application/JSON ; Charset=UTF-8', 'application/json', [['charset', 'UTF-8']]],
    ['text/plain;charset="utf-8"', 'text/plain', [['charset', 'utf-8']]],
    [
      'a/b; x="q\\"; y=1"; z=2;',
      'a/b',
      [
        ['x', 'q"; y=1'],
        ['z', '2'],
      ],
    ],
  ])('reads %j', (text, name, parameters) => {
    const type = parseMediaType(text)!;
    expect(`${type.type}/${type.subtype}`).toBe(name);
    expect([...type.parameters]).toEqual(parameters);
  });

  test.each([
    '',
    'json',
    'a/',
    '/b',
    'a/b/c',
    'a b/c',
    'a/b c',
    'a/b; x',
    'a/b; x=',
    'a/b; x="',
    'a/b; x=1; x=2',
    'a/b, c/d',
  ])('refuses %j', (text) => {
    expect(parseMediaType(text)).toBeNull();
  });
});

describe('the rule for a body', () => {
  test('finds the same in steps, whatever is checked between them', () => {
    const list = { schema: { type: 'array', items: { type: 'integer', maximum: 5 } } };
    const rule = bodyOf({ 'application/json': list }).media('application/json')!;
    const text = `[1.0,${'1,'.repeat(50_000)}6]`;
    const steps = rule.steps!(bytes(text));
    let step = steps.next();
    for (; !step.done; step = steps.next())
      expect(short(rule.check(bytes('[1.0]')))).toHaveLength(1);
    expect(step.value).toEqual(rule.check(bytes(text)));
    expect(step.value).toHaveLength(2);
  });

  test.each([
    ['application/json', true],
    ['Application/Json', true],
    ['application/json; charset=utf-8', true],
    ['application/json;charset="UTF-8"', true],
    ['application/json; version=2', true],
    ['application/json; charset=utf8', true],
    ['application/json; charset=US-ASCII', true],
    ['application/json; charset=latin1', false],
    ['application/json; charset=utf-16', false],
    ['application/jsonp', false],
    ['application/problem+json', false],
    ['text/plain', false],
    ['application/*', false],
    ['json', false],
    ['', false],
    [undefined, false],
  ])('of application/json for %j: %s', (type, found) => {
    expect(bodyOf({ 'application/json': integer }).media(type) !== null).toBe(found);
  });

  test('is the most exact that fits', () => {
    const body = bodyOf({
      '*/*': {},
      'application/*': {},
      'application/json': integer,
      'application/json; version=2': {},
      'text/plain': {},
    });
    const chosen = (type: string) => body.media(type)?.type;
    expect(chosen('application/json')).toBe('application/json');
    expect(chosen('application/json; version=2; x=y')).toBe('application/json; version=2');
    expect(chosen('application/json; version=3')).toBe('application/json');
    expect(chosen('application/xml')).toBe('application/*');
    expect(chosen('text/plain')).toBe('text/plain');
    expect(chosen('image/png')).toBe('*/*');
  });

  test('of a range reads JSON where it is sent', () => {
    expect(send({ 'application/*': integer }, 'application/json', '{"a":"x"}')).toEqual([
      '/a must be an integer',
    ]);
    expect(send({ '*/*': integer }, 'application/merge-patch+json', '{"a":"x"}')).toEqual([
      '/a must be an integer',
    ]);
    expect(send({ '*/*': integer }, 'image/svg+xml', '<svg><a>x</a></svg>')).toEqual([
      '/a must be an integer',
    ]);
  });

  test.each(['text/json', 'text/*'])('of the type text/json reads JSON under %s', (entry) => {
    expect(send({ [entry]: integer }, 'text/json; charset=utf-8', '{"a":"x"}')).toEqual([
      '/a must be an integer',
    ]);
    expect(send({ [entry]: integer }, 'text/json', '{"a":1}')).toEqual([]);
  });

  test('of a type ending in +json reads JSON', () => {
    expect(
      send({ 'application/vnd.api+json': integer }, 'application/vnd.api+json', '{"a":"x"}'),
    ).toEqual(['/a must be an integer']);
    expect(
      send({ 'application/vnd.api+json': integer }, 'application/vnd.api+json', '{'),
    ).toHaveLength(1);
  });

  test('without a schema still wants JSON', () => {
    expect(send({ 'application/json': {} }, 'application/json', '{"a":1}')).toEqual([]);
    expect(send({ 'application/json': {} }, 'application/json', '{"a":1,"a":1}')).toEqual([
      '/a is given more than once (at byte 10)',
    ]);
  });
});

describe('text', () => {
  const text = (schema: object) => ({ 'text/plain': { schema } });

  test('is one string, or what the schema makes of it', () => {
    expect(send(text({ type: 'string', maxLength: 3 }), 'text/plain', 'Tür')).toEqual([]);
    expect(
      send(text({ type: 'string', maxLength: 3 }), 'text/plain; charset=utf-8', 'Türe'),
    ).toEqual(['must have at most 3 characters']);
    expect(send(text({ type: 'integer' }), 'text/plain', '7')).toEqual([]);
    expect(send(text({ type: 'integer' }), 'text/plain', 'seven')).toEqual(['must be an integer']);
    expect(send(text({ type: 'string' }), 'text/plain; charset=latin1', 'x')).toBe('415');
  });

  test('of other types than plain is text too', () => {
    const csv = { 'text/csv': { schema: { type: 'string', pattern: '^(\\w+,\\w+\\n)+$' } } };
    expect(send(csv, 'text/csv', 'a,b\nc,d\n')).toEqual([]);
    expect(send(csv, 'text/csv; charset=utf-8', 'a;b\n')).toEqual([
      'must match the pattern ^(\\w+,\\w+\\n)+$',
    ]);
    expect(send(csv, 'text/csv; charset=latin1', 'a,b\n')).toBe('415');
  });

  test('must be UTF-8 without a byte order mark', () => {
    const rule = bodyOf(text({ type: 'string' })).media('text/plain')!;
    expect(short(rule.check(Uint8Array.of(0xff)))).toEqual(['is not UTF-8']);
    expect(short(rule.check(bytes('\ufeffa')))).toEqual(['begins with a byte order mark']);
  });
});

describe('a form', () => {
  const schema = {
    type: 'object',
    required: ['name'],
    properties: {
      name: { type: 'string', minLength: 2 },
      age: { type: 'integer' },
      tags: { type: 'array', items: { type: 'integer' } },
      csv: { type: 'array', items: { type: 'integer' } },
      address: { type: 'object', properties: { zip: { type: 'integer' } } },
      deep: { type: 'object', properties: { zip: { type: 'integer' } } },
    },
    additionalProperties: false,
  };
  const encoding = { csv: { explode: false }, deep: { style: 'deepObject' } };
  const post = (text: string) =>
    send(
      { 'application/x-www-form-urlencoded': { schema, encoding } },
      'application/x-www-form-urlencoded',
      text,
    );

  test.each([
    'name=Jo+Ann',
    'name=J%C3%B6&age=7',
    'name=ab&tags=1&tags=2',
    'name=ab&csv=1,2',
    'name=ab&address=%7B%22zip%22%3A1%7D',
    'name=ab&deep[zip]=1',
  ])('%s fits', (text) => {
    expect(post(text)).toEqual([]);
  });

  test.each([
    ['age=7', '/name is required'],
    ['name=a', '/name must have at least 2 characters'],
    ['name=ab&age=x', '/age must be an integer'],
    ['name=ab&name=cd', '/name is given more than once'],
    ['name=ab&tags=1&tags=x', '/tags/1 must be an integer'],
    ['name=ab&csv=1,x', '/csv/1 must be an integer'],
    ['name=ab&address=x', '/address is not valid JSON: a value is expected'],
    ['name=ab&address=%7B%22zip%22%3A%22x%22%7D', '/address/zip must be an integer'],
    ['name=ab&deep[zip]=x', '/deep/zip must be an integer'],
    ['name=ab&other=1', '/other is not defined in the contract'],
    ['name=%ff', '/name must be UTF-8 in valid percent-encoding'],
    ['name=ab&%ff=1', 'has a name that is not UTF-8 in valid percent-encoding'],
  ])('%s: %s', (text, fault) => {
    expect(post(text)).toEqual([fault]);
  });

  test('may have other fields where the schema lets it', () => {
    const open = {
      'application/x-www-form-urlencoded': {
        schema: { type: 'object', additionalProperties: { type: 'integer' } },
      },
    };
    expect(send(open, 'application/x-www-form-urlencoded', 'a=1&b=2')).toEqual([]);
    expect(send(open, 'application/x-www-form-urlencoded', 'a=1&b=x')).toEqual([
      '/b must be an integer',
    ]);
    expect(send(open, 'application/x-www-form-urlencoded', '__proto__=1')).toEqual([]);
  });
});

describe('bytes', () => {
  const image = (schema: object) => ({ 'image/png': { schema: { type: 'string', ...schema } } });
  const sendPng = (schema: object, bytes: Uint8Array) =>
    short(bodyOf(image(schema)).media('image/png')!.check(bytes));

  test.each([{ format: 'binary' }, {}])('of a string %j have a length in bytes', (schema) => {
    const bounds = { ...schema, minLength: 2, maxLength: 3 };
    expect(sendPng(bounds, Uint8Array.of(0xff))).toEqual([
      expect.stringMatching('must have at least 2 (bytes|characters)'),
    ]);
    expect(sendPng(bounds, Uint8Array.of(0xff, 0xfe))).toEqual([]);
    expect(sendPng(bounds, bytes('äa'))).toEqual([]);
    expect(sendPng(bounds, bytes('ää'))).toEqual([
      expect.stringMatching('must have at most 3 (bytes|characters)'),
    ]);
  });

  test('are text in UTF-8 if the schema says what only text can be', () => {
    expect(sendPng({ pattern: '^ä+$', maxLength: 2 }, bytes('ää'))).toEqual([]);
    expect(sendPng({ pattern: '^ä+$', maxLength: 2 }, bytes('äää'))).toEqual([
      'must have at most 2 characters',
    ]);
    expect(sendPng({ pattern: '^ä+$' }, Uint8Array.of(0xe4))).toEqual(['is not UTF-8']);
    expect(sendPng({ format: 'byte' }, bytes('AAAA'))).toEqual([]);
    expect(sendPng({ format: 'byte' }, bytes('AAA'))).toEqual(['must have the format byte']);
    expect(sendPng({ enum: ['a', 'b'] }, bytes('c'))).toEqual(['must be one of: a, b']);
  });

  test('of no schema may be anything, which is noted', () => {
    const contract = contractOf({ 'application/octet-stream': {}, 'image/*': { schema: {} } });
    expect(
      only(contract).body!.media('application/octet-stream')!.check(Uint8Array.of(0xff)),
    ).toEqual([]);
    expect(only(contract).body!.media('image/png')!.check(Uint8Array.of(0xff))).toEqual([]);
    expect(notesOf(contract)).toEqual([
      'application/octet-stream has no schema: it may be any bytes',
      'image/* has no schema: it may be any bytes',
    ]);
  });

  test('of format binary have no characters for a pattern, which is noted', () => {
    const contract = contractOf(image({ format: 'binary', pattern: '^a$' }));
    expect(notesOf(contract)).toEqual(['is enforced on text only, not on bytes (format: binary)']);
  });

  test('of format binary are a string in JSON', () => {
    const schema = { type: 'string', format: 'binary', nullable: true, minLength: 2, maxLength: 3 };
    const json = (text: string) =>
      send({ 'application/json': { schema } }, 'application/json', text);
    expect(json('"äöü"')).toEqual([]);
    expect(json('null')).toEqual([]);
    expect(json('1')).toEqual(['must be a string']);
    expect(json('"ä"')).toEqual(['must have at least 2 characters']);
    expect(json('"äöüß"')).toEqual(['must have at most 3 characters']);
  });
});

describe('bodies that cannot be checked', () => {
  const object = { schema: { type: 'object' } };
  const why = {
    bytes: 'only their length can be checked, and the schema describes no string',
    text: 'the schema describes no text',
  };

  test.each([
    ['application/octet-stream', why.bytes],
    ['application/x-protobuf', why.bytes],
    ['multipart/mixed', why.bytes],
    ['image/*', why.bytes],
    ['text/csv', why.text],
  ])('of %s are a problem, unless the operation lets them pass', (type, reason) => {
    const path = `/paths/~1/post/requestBody/content/${type.replace('/', '~1')}`;
    expect(problemsOf(() => contractOf({ [type]: object }))).toEqual([
      expect.stringContaining(
        `${path}: bodies of type ${type} cannot be checked: ${reason}; x-unchecked-body: true lets them pass`,
      ),
    ]);
    const requestBody = { content: { [type]: object, 'application/json': integer } };
    const contract = load({
      '/': { post: { requestBody, responses: done, 'x-unchecked-body': true } },
    });
    const { media } = only(contract).body!;
    expect(media(type.replace('*', 'png'))!.check(bytes('anything'))).toEqual([]);
    expect(short(media('application/json')!.check(bytes('{"a":"x"}')))).toEqual([
      '/a must be an integer',
    ]);
    expect(notesOf(contract)).toEqual([
      expect.stringContaining(`bodies of type ${type} are not checked: ${reason}`),
    ]);
  });

  test('are a problem for a form that is not an object', () => {
    expect(
      problemsOf(() =>
        contractOf({ 'application/x-www-form-urlencoded': { schema: { type: 'string' } } }),
      ),
    ).toEqual([expect.stringContaining('the schema describes no object')]);
  });

  test.each(['*/*', 'application/*'])('are 415 where the contract takes %s', (range) => {
    const contract = contractOf({ [range]: integer });
    const { media } = only(contract).body!;
    expect(media('application/x-protobuf')).toBeNull();
    expect(short(media('application/json')!.check(bytes('{"a":"x"}')))).toEqual([
      '/a must be an integer',
    ]);
    expect(short(media('application/x-www-form-urlencoded')!.check(bytes('a=x')))).toEqual([
      '/a must be an integer',
    ]);
    expect(short(media('application/xml')!.check(bytes('<r><a>x</a></r>')))).toEqual([
      '/a must be an integer',
    ]);
    expect(notesOf(contract)).toEqual([
      expect.stringContaining(
        `bodies of type ${range} are taken in these syntaxes only: json, form, `,
      ),
    ]);
  });

  test('pass where the operation lets them, under a range too', () => {
    const requestBody = { content: { '*/*': integer } };
    const contract = load({
      '/': { post: { requestBody, responses: done, 'x-unchecked-body': true } },
    });
    expect(only(contract).body!.media('application/x-protobuf')!.check(bytes('x'))).toEqual([]);
    expect(only(contract).body!.media('application/json')!.check(bytes('x'))).toHaveLength(1);
    expect(notesOf(contract)).toEqual([
      expect.stringContaining('some bodies of type */* are not checked'),
    ]);
  });

  test('are noted if the operation has none', () => {
    const requestBody = { content: { 'application/json': integer } };
    const contract = load({
      '/': { post: { requestBody, responses: done, 'x-unchecked-body': true } },
    });
    expect(notesOf(contract)).toEqual(['has no effect: every body of this operation is checked']);
  });

  test('pass in answers, and are noted', () => {
    const responses = {
      200: { description: 'Done.', content: { 'application/x-protobuf': object } },
    };
    const contract = load({ '/': { get: { responses } } });
    expect(only(contract).checkResponse(200, 'application/x-protobuf', bytes('x'))).toEqual([]);
    expect(notesOf(contract)).toEqual([
      `bodies of type application/x-protobuf are not checked: ${why.bytes}`,
    ]);
  });
});

test('a form without a schema is still a form', () => {
  const type = 'application/x-www-form-urlencoded';
  expect(send({ [type]: {} }, type, 'a=1&b')).toEqual([]);
  expect(send({ [type]: {} }, type, 'a=%zz')).toEqual([
    '/a must be UTF-8 in valid percent-encoding',
  ]);
});

test('the nesting of JSON is bounded by a setting', () => {
  const requestBody = { content: { 'application/json': {} } };
  const parameters = [{ name: 'q', in: 'query', content: { 'application/json': {} } }];
  const contract = load(
    { '/': { post: { requestBody, parameters, responses: done } } },
    {},
    { maxDepth: 2 },
  );
  const operation = only(contract);
  expect(short(operation.body!.media('application/json')!.check(bytes('[[[]]]')))).toEqual([
    '/0/0 is nested deeper than 2 levels (at byte 2)',
  ]);
  expect(short(operation.checkParameters([], 'q=[[[]]]', []))).toEqual([
    '/q/0/0 is nested deeper than 2 levels',
  ]);
});

test('a body says whether it is required and which types it takes', () => {
  const body = only(contractOf({ 'text/plain': {}, 'application/json': {} }, { required: true }))
    .body!;
  expect([body.required, body.accepted]).toEqual([true, ['text/plain', 'application/json']]);
  expect(bodyOf({ 'text/plain': {} }).required).toBe(false);
});

test('a described body of GET or DELETE is checked, one of HEAD is not', () => {
  const requestBody = { content: { 'application/json': { schema: { type: 'object' } } } };
  const methods = ['get', 'delete', 'head'];
  const contract = load({
    '/': Object.fromEntries(methods.map((method) => [method, { requestBody, responses: done }])),
  });
  expect(contract.operations.map(({ method, body }) => [method, body?.accepted])).toEqual([
    ['GET', ['application/json']],
    ['DELETE', ['application/json']],
    ['HEAD', undefined],
  ]);
  expect(short(contract.operations[0]!.body!.media('application/json')!.check(bytes('1')))).toEqual(
    ['must be an object'],
  );
  expect(notesOf(contract)).toEqual(['the body of a HEAD request is ignored, as OpenAPI 3.0 says']);
});

test('a body of no media type is noted, and not taken', () => {
  const contract = contractOf({});
  expect(notesOf(contract)).toContain('describes no media type: the operation takes no body');
  expect(only(contract).body).toBeNull();
});

test('an invalid media type is refused', () => {
  expect(problemsOf(() => contractOf({ json: {} }))).toEqual([
    expect.stringContaining('json is not a media type'),
  ]);
});

test('no fault repeats what was sent', () => {
  const schema = {
    type: 'object',
    properties: {
      a: { type: 'integer' },
      b: { type: 'string', enum: ['x'] },
      c: { type: 'string', pattern: '^[0-9]$' },
      d: { type: 'array', uniqueItems: true, items: { type: 'string', format: 'uuid' } },
      e: { oneOf: [{ type: 'integer' }, { type: 'boolean' }] },
      f: { not: { type: 'string' } },
      g: { type: 'string', maxLength: 2 },
      h: { type: 'object', additionalProperties: { type: 'integer' } },
    },
  };
  const json = bodyOf({ 'application/json': { schema } }).media('application/json')!;
  const form = bodyOf({ 'application/x-www-form-urlencoded': { schema } }).media(
    'application/x-www-form-urlencoded',
  )!;
  fc.assert(
    fc.property(fc.stringMatching(/^[A-Z]{9}$/), (s) => {
      const body = { a: s, b: s, c: s, d: [s, s], e: s, f: s, g: s, h: { k: s } };
      const faults = json.check(bytes(JSON.stringify(body)));
      expect(new Set(faults.map(({ pointer }) => pointer[1]))).toEqual(new Set('abcdefgh'));
      const formFaults = form.check(
        bytes(`a=${s}&b=${s}&c=${s}&d=${s}&d=${s}&e=${s}&f=${s}&g=${s}&h=${s}`),
      );
      expect(JSON.stringify([faults, formFaults])).not.toContain(s);
    }),
  );
});

test('a form with a plain text beside the members of a deep object is refused', () => {
  const type = 'application/x-www-form-urlencoded';
  const schema = { type: 'object', properties: { color: { type: 'object' } } };
  const content = { [type]: { schema, encoding: { color: { style: 'deepObject' } } } };
  expect(send(content, type, 'color[R]=1')).toEqual([]);
  for (const form of ['color=x&color[R]=1', 'color[R]=1&color=x'])
    expect(send(content, type, form)).toEqual(['/color must be an object']);
});
