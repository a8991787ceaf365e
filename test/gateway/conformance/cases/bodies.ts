import {
  body,
  type Json,
  json,
  mediaType,
  operation,
  type Sent,
  type Subject,
  written,
} from '../subject.ts';

const JSON_TEXT = 'RFC 8259';
const MEDIA = 'OpenAPI 3.0.3, Request Body Object, content';
const FORM = 'OpenAPI 3.0.3, Support for x-www-form-urlencoded Request Bodies; RFC 1866, 8.2.1';
const MULTIPART = 'OpenAPI 3.0.3, Special Considerations for multipart Content; RFC 7578';
const ENCODING = 'OpenAPI 3.0.3, Encoding Object';
const XML = 'OpenAPI 3.0.3, XML Object';

const syntax = json(
  'bodies: JSON text',
  {},
  {
    source: JSON_TEXT,
    good: [' {"a" : [ 1 , 2 ] }\n', '"\\u00e4\\n\\/"', '[]', '-0', '1E+2', '"ä🐈"', 'null'],
    bad: [
      '{"a":1,}',
      '[1,]',
      "{'a':1}",
      '{a:1}',
      '01',
      '+1',
      '.5',
      '1.',
      '1e',
      'NaN',
      'Infinity',
      'undefined',
      '0x1',
      '{"a":1} {"b":2}',
      '{"a":1}}',
      '{"a":',
      '[1',
      '"a',
      '"\\x"',
      '"\\u12"',
      '// a\n1',
      '1 /* a */',
      ['a control character', '"\u0001"'],
      ['a line end in a text', '"a\nb"'],
      'True',
      '{"a" 1}',
      '[1 2]',
      '{,}',
    ],
  },
);

const optional = body(
  'bodies: presence',
  { 'application/json': { schema: { type: 'object' } } },
  'application/json',
  { source: 'OpenAPI 3.0.3, Request Body Object, required', good: ['', '{}'], bad: ['[]'] },
  false,
);
const required = body(
  'bodies: presence',
  { 'application/json': { schema: { type: 'object' } } },
  'application/json',
  {
    source: 'OpenAPI 3.0.3, Request Body Object, required',
    good: ['{}'],
    bad: [''],
  },
);

const schema = { type: 'object', required: ['a'], properties: { a: { type: 'integer' } } };
const types: readonly Subject[] = [
  mediaType({ 'application/json': { schema } }, '{"a":1}', {
    source: `${MEDIA}; RFC 9110, 8.3.1`,
    good: [
      'application/json',
      'application/json; charset=utf-8',
      'Application/JSON',
      'application/json;charset=UTF-8',
      'application/json; charset="utf-8"',
    ],
    bad: [
      'text/plain',
      'application/xml',
      'application/x-www-form-urlencoded',
      'application/vnd.api+json',
      'application/json5',
      'json',
    ],
  }),
  mediaType({ 'application/vnd.api+json': { schema } }, '{"a":1}', {
    source: MEDIA,
    good: ['application/vnd.api+json'],
    bad: ['application/json', 'application/vnd.other+json'],
  }),
  mediaType({ 'application/vnd.api+json': { schema } }, '{"a":"x"}', {
    source: 'RFC 6839, 3.1: it is JSON',
    good: [],
    bad: ['application/vnd.api+json'],
  }),
  mediaType({ 'application/*': { schema } }, '{"a":1}', {
    source: `${MEDIA}: ranges`,
    good: ['application/json'],
    bad: ['text/plain', 'image/png'],
  }),
  mediaType({ 'application/*': { schema } }, '{"a":"x"}', {
    source: `${MEDIA}: ranges`,
    good: [],
    bad: ['application/json'],
  }),
  mediaType({ '*/*': { schema } }, '{"a":"x"}', {
    source: `${MEDIA}: ranges`,
    good: [],
    bad: ['application/json'],
  }),
  mediaType(
    {
      'text/*': { schema: { type: 'string', maxLength: 1 } },
      'text/plain': { schema: { type: 'string', maxLength: 5 } },
    },
    'abc',
    { source: `${MEDIA}: the most specific key`, good: ['text/plain'], bad: ['text/html'] },
  ),
  body(
    'media types',
    { 'text/plain': { schema: { type: 'string', enum: ['a', 'ä'] } } },
    'text/plain',
    {
      source: MEDIA,
      good: ['a', 'ä'],
      bad: ['b', 'A'],
    },
  ),
  body(
    'media types',
    { 'text/plain': { schema: { type: 'string', maxLength: 3 } } },
    'text/plain',
    {
      source: MEDIA,
      good: ['abc', 'äöü'],
      bad: ['abcd'],
    },
  ),
  body(
    'media types',
    { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } },
    'application/octet-stream',
    {
      source: 'OpenAPI 3.0.3, Considerations for File Uploads',
      good: ['abc', ['bytes', '\u0000\u0001ä']],
      bad: [],
    },
  ),
  body(
    'media types',
    { 'image/png': { schema: { type: 'string', format: 'binary', maxLength: 4 } } },
    'image/png',
    {
      source: 'OpenAPI 3.0.3, Considerations for File Uploads',
      good: ['abcd'],
      bad: ['abcde'],
    },
  ),
];

const form = (
  fields: Json,
  source: string,
  good: Sent[],
  bad: Sent[],
  more: Json = {},
  encoding: Json = {},
): Subject =>
  body(
    'forms',
    {
      'application/x-www-form-urlencoded': {
        schema: { type: 'object', properties: fields, ...more },
        encoding,
      },
    },
    'application/x-www-form-urlencoded',
    { source, good, bad },
  );

const integers = { type: 'array', items: { type: 'integer' } };
const forms: readonly Subject[] = [
  form(
    { n: { type: 'integer' }, b: { type: 'boolean' } },
    FORM,
    ['n=1&b=true', 'n=%31', 'b=false'],
    ['n=x', 'n=1.5', 'b=yes', 'b=1', 'n=1&b='],
  ),
  form(
    { s: { type: 'string', enum: ['a b', 'ä', '12'] } },
    FORM,
    ['s=a+b', 's=a%20b', 's=%C3%A4', 's=12'],
    ['s=a%2Bb', 's=c'],
    { required: ['s'] },
  ),
  form({ n: { type: 'integer' } }, FORM, ['n=1'], ['m=1', 'N=1'], { required: ['n'] }),
  form({ n: { type: 'integer' } }, FORM, ['n=1'], ['n=1&m=2'], { additionalProperties: false }),
  form(
    { n: integers },
    `${ENCODING}: form, exploded, by default`,
    ['n=1&n=2', 'n=1'],
    ['n=1&n=x', 'n=x'],
  ),
  form(
    { n: integers },
    ENCODING,
    ['n=1,2', 'n=1'],
    ['n=1,x'],
    {},
    { n: { style: 'form', explode: false } },
  ),
  form(
    { n: integers },
    ENCODING,
    ['n=1|2', 'n=1'],
    ['n=1|x'],
    {},
    { n: { style: 'pipeDelimited', explode: false } },
  ),
  form(
    { n: integers },
    ENCODING,
    ['n=1%202'],
    ['n=1%20x'],
    {},
    { n: { style: 'spaceDelimited', explode: false } },
  ),
  form(
    { o: { type: 'object', required: ['a'], properties: { a: { type: 'integer' } } } },
    ENCODING,
    ['o[a]=1', 'o%5Ba%5D=1'],
    ['o[a]=x', 'o[b]=1'],
    { required: ['o'] },
    { o: { style: 'deepObject' } },
  ),
  form(
    { i: { type: 'integer', format: 'int64' } },
    'OpenAPI 3.0.3, Data Types',
    ['i=9223372036854775807'],
    ['i=9223372036854775808'],
  ),
  form(
    { d: { type: 'string', format: 'date' } },
    'OpenAPI 3.0.3, Data Types',
    ['d=2024-02-29'],
    ['d=2023-02-29'],
  ),
];

type Part = readonly [headers: string, text: string];
const BOUNDARY = 'cases';
const part = (name: string, text: string, more = ''): Part => [
  `form-data; name="${name}"${more}`,
  text,
];
const file = (name: string, text: string, type: string): Part =>
  part(name, text, `; filename="f"\r\nContent-Type: ${type}`);
const jsonPart = (name: string, text: string): Part => [
  `form-data; name="${name}"\r\nContent-Type: application/json`,
  text,
];
const multipart = (...parts: Part[]): string =>
  `${parts.map(([head, text]) => `--${BOUNDARY}\r\nContent-Disposition: ${head}\r\n\r\n${text}\r\n`).join('')}--${BOUNDARY}--\r\n`;

const parted = (
  properties: Json,
  source: string,
  good: Sent[],
  bad: Sent[],
  more: Json = {},
  encoding: Json = {},
): Subject =>
  body(
    'multipart',
    { 'multipart/form-data': { schema: { type: 'object', properties, ...more }, encoding } },
    `multipart/form-data; boundary=${BOUNDARY}`,
    { source, good, bad },
  );

const binary = { type: 'string', format: 'binary' };
const address = { type: 'object', required: ['city'], properties: { city: { type: 'string' } } };
const multiparts: readonly Subject[] = [
  parted(
    { n: { type: 'integer' }, s: { type: 'string', maxLength: 3 } },
    MULTIPART,
    [
      ['a number and a text', multipart(part('n', '1'), part('s', 'abc'))],
      ['one of them', multipart(part('n', '-5'))],
    ],
    [
      ['a wrong number', multipart(part('n', 'x'))],
      ['a long text', multipart(part('s', 'abcd'))],
      ['a fraction', multipart(part('n', '1.5'))],
    ],
  ),
  parted(
    { f: binary, n: { type: 'integer' } },
    MULTIPART,
    [
      ['a file', multipart(file('f', 'abc', 'application/octet-stream'))],
      ['a file and a number', multipart(file('f', '\u0000\u0001', 'image/png'), part('n', '1'))],
    ],
    [
      ['no file', multipart(part('n', '1'))],
      ['a file of another name', multipart(file('g', 'abc', 'image/png'))],
    ],
    { required: ['f'] },
  ),
  parted(
    { f: { type: 'array', items: binary, maxItems: 2 } },
    MULTIPART,
    [['two files', multipart(file('f', 'a', 'image/png'), file('f', 'b', 'image/png'))]],
    [
      [
        'three files',
        multipart(
          file('f', 'a', 'image/png'),
          file('f', 'b', 'image/png'),
          file('f', 'c', 'image/png'),
        ),
      ],
    ],
  ),
  parted(
    { a: address },
    `${MULTIPART}: objects are application/json`,
    [['an object', multipart(jsonPart('a', '{"city":"Bonn"}'))]],
    [
      ['a member missing', multipart(jsonPart('a', '{}'))],
      ['no JSON', multipart(jsonPart('a', '{'))],
      ['a wrong member', multipart(jsonPart('a', '{"city":1}'))],
    ],
  ),
  parted(
    { f: binary },
    ENCODING,
    [['the type', multipart(file('f', 'a', 'image/png'))]],
    [['another type', multipart(file('f', 'a', 'text/html'))]],
    {},
    { f: { contentType: 'image/png, image/jpeg' } },
  ),
  parted(
    { l: { type: 'array', items: { type: 'integer' } } },
    MULTIPART,
    [['two parts', multipart(part('l', '1'), part('l', '2'))]],
    [['a wrong entry', multipart(part('l', '1'), part('l', 'x'))]],
  ),
  parted(
    { s: { type: 'string' } },
    MULTIPART,
    [['nothing unknown', multipart(part('s', 'a'))]],
    [['an unknown part', multipart(part('s', 'a'), part('t', 'b'))]],
    { additionalProperties: false },
  ),
  parted(
    { s: { type: 'string' } },
    'RFC 2046, 5.1.1',
    [['whole', multipart(part('s', 'a'))]],
    [
      ['no last boundary', `--${BOUNDARY}\r\nContent-Disposition: form-data; name="s"\r\n\r\na`],
      ['no boundary at all', 's=a'],
      [
        'a part without a name',
        `--${BOUNDARY}\r\nContent-Disposition: form-data\r\n\r\na\r\n--${BOUNDARY}--\r\n`,
      ],
    ],
    { required: ['s'] },
  ),
];

const animal = {
  type: 'object',
  required: ['id'],
  properties: {
    id: { type: 'integer', xml: { attribute: true } },
    name: { type: 'string' },
    tag: {
      type: 'array',
      xml: { name: 'tags', wrapped: true },
      items: { type: 'string', maxLength: 3, xml: { name: 'tag' } },
    },
  },
  xml: { name: 'animal' },
};
const xml = body('XML', { 'application/xml': { schema: animal } }, 'application/xml', {
  source: XML,
  good: [
    '<animal id="1"><name>a</name></animal>',
    '<animal id="1"><tags><tag>a</tag><tag>b</tag></tags></animal>',
  ],
  bad: [
    '<animal id="x"/>',
    '<animal/>',
    '<plant id="1"/>',
    '<animal id="1"><tags><tag>long</tag></tags></animal>',
    '<animal id="1">',
  ],
});

const pathParameter = { name: 'x', in: 'path', required: true, schema: { type: 'integer' } };
const TEMPLATING = 'OpenAPI 3.0.3, Paths Object';
const get = (target: string, method = 'GET') => ({ method, target });
const routes = written(
  'paths',
  {
    '/routes/{x}': { parameters: [pathParameter], get: operation(), delete: operation() },
    '/routes/mine': { get: operation() },
    '/routes/{x}/parts/{y}': {
      get: operation({
        parameters: [pathParameter, { ...pathParameter, name: 'y', schema: { type: 'string' } }],
      }),
    },
    '/files/{x}.json': { get: operation({ parameters: [pathParameter] }) },
    '/overridden/{x}': {
      parameters: [pathParameter],
      get: operation({ parameters: [{ ...pathParameter, schema: { type: 'string' } }] }),
    },
  },
  [
    ['a template', true, TEMPLATING, get('/routes/7')],
    ['a template with another type', false, TEMPLATING, get('/routes/x')],
    [
      'a concrete path before a template',
      true,
      `${TEMPLATING}: Path Templating Matching`,
      get('/routes/mine'),
    ],
    ['two templates', true, TEMPLATING, get('/routes/7/parts/a')],
    ['the first of two is wrong', false, TEMPLATING, get('/routes/a/parts/a')],
    ['text behind a template', true, TEMPLATING, get('/files/7.json')],
    ['text behind a template, with another type', false, TEMPLATING, get('/files/a.json')],
    ['text that is missing', false, TEMPLATING, get('/files/7')],
    ['an unknown path', false, TEMPLATING, get('/nowhere')],
    ['a segment too many', false, TEMPLATING, get('/routes/7/parts/a/b')],
    ['another case', false, 'RFC 3986, 6.2.2.1', get('/Routes/7')],
    ['a slash behind it', false, TEMPLATING, get('/routes/7/')],
    ['a method of the path', true, 'OpenAPI 3.0.3, Path Item Object', get('/routes/7', 'DELETE')],
    [
      'a method that is not described',
      false,
      'OpenAPI 3.0.3, Path Item Object',
      get('/routes/7', 'PUT'),
    ],
    [
      'a parameter of the operation hides that of the path',
      true,
      'OpenAPI 3.0.3, Operation Object, parameters',
      get('/overridden/a'),
    ],
    ['an encoded letter', true, 'RFC 3986, 6.2.2.2', get('/%72outes/7')],
  ],
);

export const bodies = [syntax, optional, required, ...types, ...forms, ...multiparts, xml, routes];
