import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseMediaType } from '../src/media/type.ts';
import {
  bodyChecker,
  done,
  json,
  load,
  notesOf,
  only,
  problemsOf,
  queryChecker,
  short,
  taking,
} from './documents.ts';
import { body, field, formChecker } from './forms.ts';

type Json = Record<string, unknown>;

const integer = { schema: { type: 'object', properties: { a: { type: 'integer' } } } };
const aFault = ['/a must be an integer'];
const FORM = 'application/x-www-form-urlencoded';
const bytes = (text: string) => new TextEncoder().encode(text);
/** The faults of a body of this type, where the contract has this content. */
const send = (content: Json, type: string | undefined, sent: string | Uint8Array) =>
  bodyChecker(taking(content), 'none')(sent, type);
const one =
  (type: string, schema: object) =>
  (sent: string | Uint8Array, sentAs = type) =>
    bodyChecker(taking({ [type]: { schema } }), type)(sent, sentAs);

test.each<[text: string, name: string | null, ...parameters: string[][]]>([
  ['application/json', 'application/json'],
  [' Application/JSON ; Charset=UTF-8', 'application/json', ['charset', 'UTF-8']],
  ['text/plain;charset="utf-8"', 'text/plain', ['charset', 'utf-8']],
  ['a/b; x="q\\"; y=1"; z=2;', 'a/b', ['x', 'q"; y=1'], ['z', '2']],
  ['', null],
  ['json', null],
  ['a/', null],
  ['/b', null],
  ['a/b/c', null],
  ['a b/c', null],
  ['a/b c', null],
  ['a/b; x', null],
  ['a/b; x=', null],
  ['a/b; x="', null],
  ['a/b; x=1; x=2', null],
  ['a/b, c/d', null],
])('the media type %j is %j', (text, name, ...parameters) => {
  const type = parseMediaType(text);
  expect(type && `${type.type}/${type.subtype}`).toBe(name);
  expect([...(type?.parameters ?? [])]).toEqual(parameters);
});

describe('the rule for a body', () => {
  test('finds the same in steps, whatever is checked between them', () => {
    const list = { type: 'array', items: { type: 'integer', maximum: 5 } };
    const rule = only(taking(json(list).content)).body!.media('application/json')!;
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
    const { media } = only(taking({ 'application/json': integer })).body!;
    expect(media(type) !== null).toBe(found);
  });

  test.each([
    ['application/json', 'application/json'],
    ['application/json; version=2; x=y', 'application/json; version=2'],
    ['application/json; version=3', 'application/json'],
    ['application/xml', 'application/*'],
    ['text/plain', 'text/plain'],
    ['image/png', '*/*'],
  ])('is the most exact that fits: for %s that of %s', (type, chosen) => {
    const others = ['*/*', 'application/*', 'application/json; version=2', 'text/plain'];
    const content = Object.fromEntries(others.map((other) => [other, {}]));
    const { media } = only(taking({ ...content, 'application/json': integer })).body!;
    expect(media(type)?.type).toBe(chosen);
  });

  test.each<[entry: string, media: Json, type: string, text: string, ...faults: string[]]>([
    ['application/*', integer, 'application/json', '{"a":"x"}', ...aFault],
    ['*/*', integer, 'application/merge-patch+json', '{"a":"x"}', ...aFault],
    ['*/*', integer, 'image/svg+xml', '<svg><a>x</a></svg>', ...aFault],
    ['text/json', integer, 'text/json; charset=utf-8', '{"a":"x"}', ...aFault],
    ['text/json', integer, 'text/json', '{"a":1}'],
    ['text/*', integer, 'text/json; charset=utf-8', '{"a":"x"}', ...aFault],
    ['text/*', integer, 'text/json', '{"a":1}'],
    ['application/vnd.api+json', integer, 'application/vnd.api+json', '{"a":"x"}', ...aFault],
    ['application/json', {}, 'application/json', '{"a":1}'],
    [
      'application/json',
      {},
      'application/json',
      '{"a":1,"a":1}',
      '/a is given more than once (at byte 10)',
    ],
    [FORM, {}, FORM, 'a=1&b'],
    [FORM, {}, FORM, 'a=%zz', '/a must be UTF-8 in valid percent-encoding'],
  ])('of %s with %j reads what %s says: %s', (entry, media, type, text, ...faults) => {
    expect(send({ [entry]: media }, type, text)).toEqual(faults);
  });
});

const csv = { type: 'string', pattern: '^(\\w+,\\w+\\n)+$' };
const three = { type: 'string', maxLength: 3 };

test.each<[type: string, schema: Json, sent: string | Uint8Array, ...faults: string[]]>([
  ['text/plain', three, 'Tür'],
  ['text/plain; charset=utf-8', three, 'Türe', 'must have at most 3 characters'],
  ['text/plain', { type: 'integer' }, '7'],
  ['text/plain', { type: 'integer' }, 'seven', 'must be an integer'],
  ['text/plain; charset=latin1', three, 'x', '415'],
  ['text/csv', csv, 'a,b\nc,d\n'],
  ['text/csv; charset=utf-8', csv, 'a;b\n', 'must match the pattern ^(\\w+,\\w+\\n)+$'],
  ['text/csv; charset=latin1', csv, 'a,b\n', '415'],
  ['text/plain', three, Uint8Array.of(0xff), 'is not UTF-8'],
  ['text/plain', three, '\ufeffa', 'begins with a byte order mark'],
])(
  'a text of type %s is one string, or what %j makes of it: %j',
  (type, schema, sent, ...faults) => {
    expect(send({ [type.split(';')[0]!]: { schema } }, type, sent)).toEqual(faults);
  },
);

describe('a form', () => {
  const zip = { type: 'object', properties: { zip: { type: 'integer' } } };
  const list = { type: 'array', items: { type: 'integer' } };
  const schema = {
    type: 'object',
    required: ['name'],
    properties: {
      name: { type: 'string', minLength: 2 },
      age: { type: 'integer' },
      tags: list,
      csv: list,
      address: zip,
      deep: zip,
    },
    additionalProperties: false,
  };
  const deepObject = { style: 'deepObject' };
  const deepStyle = 'must be written like color[a]=x&color[b]=y';
  const encoding = { csv: { explode: false }, deep: deepObject };

  test.each<[text: string, ...faults: string[]]>([
    ['name=Jo+Ann'],
    ['name=J%C3%B6&age=7'],
    ['name=ab&tags=1&tags=2'],
    ['name=ab&csv=1,2'],
    ['name=ab&address=%7B%22zip%22%3A1%7D'],
    ['name=ab&deep[zip]=1'],
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
  ])('%s: %s', (text, ...faults) => {
    expect(send({ [FORM]: { schema, encoding } }, FORM, text)).toEqual(faults);
  });

  test.each([
    ['a=1&b=2', []],
    ['a=1&b=x', ['/b must be an integer']],
    ['__proto__=1', []],
  ])('may have other fields where the schema lets it: %s', (text, faults) => {
    const open = one(FORM, { type: 'object', additionalProperties: { type: 'integer' } });
    expect(open(text)).toEqual(faults);
  });

  test('has no name that Rails, PHP, qs and ASP.NET read as another', () => {
    const schema = { type: 'object', properties: { size: { type: 'integer', maximum: 9 } } };
    const [fields, parts] = [one(FORM, schema), formChecker(schema)];
    const fault = 'is not defined in the contract: did you mean size?';
    for (const name of ['size[]', 'size[a][b]', 'size[x']) {
      const faults = [`/${name} ${fault}`];
      expect(fields(`${name}=99&${name}=98&other[a]=1`)).toEqual(faults);
      expect(parts(body(field(name, '99'), field('other[a]', '1')))).toEqual(faults);
    }
    // Rails and Laravel take the method of the request from it.
    const method = ['/_method is not defined in the contract'];
    expect(fields('_method=DELETE')).toEqual(method);
    expect(parts(body(field('_method', 'DELETE')))).toEqual(method);
    const underscored = { type: 'object', properties: { user_id: { type: 'integer' } } };
    for (const name of ['user.id', ' user id', 'user[id', 'USER_ID'])
      for (const faults of [
        one(FORM, underscored)(`${name}=x`),
        formChecker(underscored)(body(field(name, 'x'))),
      ])
        expect(faults).toEqual([expect.stringContaining('is not defined in the contract')]);
    const literal = { properties: { size: {}, 'size[]': { type: 'integer' } } };
    expect(one(FORM, literal)('size[]=x')).toEqual(['/size[] must be an integer']);
  });

  test.each([
    ['color[R]=1', []],
    ['color=x', [`/color ${deepStyle}`]],
    ['color=x&color[R]=1', [`/color ${deepStyle}`]],
    ['color[R]=1&color=x', [`/color ${deepStyle}`]],
  ])('has no plain text beside the members of a deep object: %s', (text, faults) => {
    const schema = { type: 'object', properties: { color: { type: 'object' } } };
    const content = { [FORM]: { schema, encoding: { color: deepObject } } };
    expect(send(content, FORM, text)).toEqual(faults);
  });
});

describe('bytes', () => {
  const png = (schema: object) => one('image/png', { type: 'string', ...schema });
  const [least, most] = ['must have at least 2', 'must have at most 3'];

  test.each<[schema: object, bytes: string | Uint8Array, ...faults: string[]]>([
    [{ format: 'binary', minLength: 2 }, Uint8Array.of(0xff), `${least} bytes`],
    [{ format: 'binary', minLength: 2 }, Uint8Array.of(0xff, 0xfe)],
    [{ format: 'binary', maxLength: 3 }, 'äa'],
    [{ format: 'binary', maxLength: 3 }, 'ää', `${most} bytes`],
    [{ minLength: 2 }, Uint8Array.of(0xff), `${least} characters`],
    [{ minLength: 2 }, Uint8Array.of(0xff, 0xfe)],
    [{ maxLength: 3 }, 'äa'],
    [{ maxLength: 3 }, 'ää', `${most} characters`],
    // What only text can be makes them text in UTF-8.
    [{ pattern: '^ä+$', maxLength: 2 }, 'ää'],
    [{ pattern: '^ä+$', maxLength: 2 }, 'äää', 'must have at most 2 characters'],
    [{ pattern: '^ä+$' }, Uint8Array.of(0xe4), 'is not UTF-8'],
    [{ format: 'byte' }, 'AAAA'],
    [{ format: 'byte' }, 'AAA', 'must have the format byte'],
    [{ enum: ['a', 'b'] }, 'c', 'must be one of: a, b'],
  ])('of %j are counted: %j', (schema, sent, ...faults) => {
    expect(png(schema)(sent)).toEqual(faults);
  });

  test('of no schema may be anything, which is noted', () => {
    const contract = taking({ 'application/octet-stream': {}, 'image/*': { schema: {} } });
    const check = bodyChecker(contract, 'application/octet-stream');
    expect(check(Uint8Array.of(0xff))).toEqual([]);
    expect(check(Uint8Array.of(0xff), 'image/png')).toEqual([]);
    expect(notesOf(contract)).toEqual([
      'application/octet-stream has no schema: it may be any bytes',
      'image/* has no schema: it may be any bytes',
    ]);
  });

  test('of format binary have no characters for a pattern, which is noted', () => {
    const schema = { type: 'string', format: 'binary', pattern: '^a$' };
    expect(notesOf(taking({ 'image/png': { schema } }))).toEqual([
      'is enforced on text only, not on bytes (format: binary)',
    ]);
  });

  test.each([
    ['"äöü"', []],
    ['null', []],
    ['1', ['must be a string']],
    ['"ä"', ['must have at least 2 characters']],
    ['"äöüß"', ['must have at most 3 characters']],
  ])('of format binary are a string in JSON: %s', (text, faults) => {
    const schema = { type: 'string', format: 'binary', nullable: true, minLength: 2, maxLength: 3 };
    expect(one('application/json', schema)(text)).toEqual(faults);
  });
});

describe('bodies that cannot be checked', () => {
  const object = { schema: { type: 'object' } };
  const unchecked = { 'x-unchecked-body': true };
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
    expect(problemsOf(() => taking({ [type]: object }))).toEqual([
      expect.stringContaining(
        `${path}: bodies of type ${type} cannot be checked: ${reason}; x-unchecked-body: true lets them pass`,
      ),
    ]);
    const contract = taking({ [type]: object, 'application/json': integer }, {}, unchecked);
    const check = bodyChecker(contract, 'application/json');
    expect(check('anything', type.replace('*', 'png'))).toEqual([]);
    expect(check('{"a":"x"}')).toEqual(aFault);
    expect(notesOf(contract)).toEqual([
      expect.stringContaining(`bodies of type ${type} are not checked: ${reason}`),
    ]);
  });

  test('are a problem for a form that is not an object', () => {
    expect(problemsOf(() => taking({ [FORM]: { schema: { type: 'string' } } }))).toEqual([
      expect.stringContaining('the schema describes no object'),
    ]);
  });

  test.each(['*/*', 'application/*'])('are 415 where the contract takes %s', (range) => {
    const contract = taking({ [range]: integer });
    const check = bodyChecker(contract, 'application/x-protobuf');
    expect(check('x')).toEqual(['415']);
    expect(check('{"a":"x"}', 'application/json')).toEqual(aFault);
    expect(check('a=x', FORM)).toEqual(aFault);
    expect(check('<r><a>x</a></r>', 'application/xml')).toEqual(aFault);
    expect(notesOf(contract)).toEqual([
      expect.stringContaining(
        `bodies of type ${range} are taken in these syntaxes only: json, form, `,
      ),
    ]);
  });

  test('pass where the operation lets them, under a range too', () => {
    const contract = taking({ '*/*': integer }, {}, unchecked);
    const check = bodyChecker(contract, 'application/x-protobuf');
    expect([check('x'), check('x', 'application/json').length]).toEqual([[], 1]);
    expect(notesOf(contract)).toEqual([
      expect.stringContaining('some bodies of type */* are not checked'),
    ]);
  });

  test('are noted if the operation has none', () => {
    expect(notesOf(taking({ 'application/json': integer }, {}, unchecked))).toEqual([
      'has no effect: every body of this operation is checked',
    ]);
  });

  test('pass in answers, and are noted', () => {
    const content = { 'application/x-protobuf': object };
    const responses = { 200: { description: 'Done.', content } };
    const contract = load({ '/': { get: { responses } } });
    expect(only(contract).checkResponse(200, 'application/x-protobuf', bytes('x'))).toEqual([]);
    expect(notesOf(contract)).toEqual([
      `bodies of type application/x-protobuf are not checked: ${why.bytes}`,
    ]);
  });
});

test('the nesting of JSON is bounded by a setting', () => {
  const parameters = [{ name: 'q', in: 'query', content: { 'application/json': {} } }];
  const reading = { maxDepth: 2 };
  const contract = taking({ 'application/json': {} }, { reading }, { parameters });
  expect(bodyChecker(contract, 'application/json')('[[[]]]')).toEqual([
    '/0/0 is nested deeper than 2 levels (at byte 2)',
  ]);
  expect(queryChecker(contract)('q=[[[]]]')).toEqual(['/q/0/0 is nested deeper than 2 levels']);
});

test('a body says whether it is required and which types it takes', () => {
  const content = { 'text/plain': {}, 'application/json': {} };
  const fields = { requestBody: { content, required: true } };
  const body = only(taking({}, {}, fields)).body!;
  expect([body.required, body.accepted]).toEqual([true, ['text/plain', 'application/json']]);
  expect(only(taking(content)).body!.required).toBe(false);
});

test('a described body of GET or DELETE is checked, one of HEAD is not', () => {
  const operation = { requestBody: json({ type: 'object' }), responses: done };
  const contract = load({ '/': { get: operation, delete: operation, head: operation } });
  expect(contract.operations.map(({ method, body }) => [method, body?.accepted])).toEqual([
    ['GET', ['application/json']],
    ['DELETE', ['application/json']],
    ['HEAD', undefined],
  ]);
  expect(bodyChecker(contract, 'application/json')('1')).toEqual(['must be an object']);
  expect(notesOf(contract)).toEqual(['the body of a HEAD request is ignored, as OpenAPI 3.0 says']);
});

test('a body of no media type is noted, and not taken; an invalid one is refused', () => {
  const contract = taking({});
  expect(notesOf(contract)).toContain('describes no media type: the operation takes no body');
  expect(only(contract).body).toBeNull();
  expect(problemsOf(() => taking({ json: {} }))).toEqual([
    expect.stringContaining('json is not a media type'),
  ]);
});

test('no fault repeats what was sent', () => {
  const properties = {
    a: { type: 'integer' },
    b: { type: 'string', enum: ['x'] },
    c: { type: 'string', pattern: '^[0-9]$' },
    d: { type: 'array', uniqueItems: true, items: { type: 'string', format: 'uuid' } },
    e: { oneOf: [{ type: 'integer' }, { type: 'boolean' }] },
    f: { not: { type: 'string' } },
    g: { type: 'string', maxLength: 2 },
    h: { type: 'object', additionalProperties: { type: 'integer' } },
  };
  const schema = { type: 'object', properties };
  const check = bodyChecker(taking({ 'application/json': { schema }, [FORM]: { schema } }), FORM);
  fc.assert(
    fc.property(fc.stringMatching(/^[A-Z]{9}$/), (s) => {
      const value = { a: s, b: s, c: s, d: [s, s], e: s, f: s, g: s, h: { k: s } };
      const faults = check(JSON.stringify(value), 'application/json');
      expect(new Set(faults.map((fault) => fault[1]))).toEqual(new Set('abcdefgh'));
      const form = `a=${s}&b=${s}&c=${s}&d=${s}&d=${s}&e=${s}&f=${s}&g=${s}&h=${s}`;
      expect([...faults, ...check(form)].join()).not.toContain(s);
    }),
  );
});
