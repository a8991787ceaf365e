import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { MAX_HEAD, MAX_PARTS } from '../src/media/multipart/parts.ts';
import { byFault, notesOf, problemsOf, ref } from './documents.ts';
import { BOUNDARY, body, field, file, formChecker, formContract, part, written } from './forms.ts';

const pet = {
  type: 'object',
  required: ['name'],
  properties: {
    name: { type: 'string', minLength: 2, maxLength: 4 },
    age: { type: 'integer', format: 'int64', minimum: 0 },
    weight: { type: 'number' },
    tame: { type: 'boolean' },
    born: { type: 'string', format: 'date' },
    tags: { type: 'array', items: { type: 'string', enum: ['a', 'b'] }, maxItems: 2 },
    owner: { type: 'object', required: ['id'], properties: { id: { type: 'integer' } } },
    visits: {
      type: 'array',
      items: { type: 'object', properties: { at: { type: 'string', format: 'date' } } },
    },
    photo: { type: 'string', format: 'binary', minLength: 2, maxLength: 5 },
    photos: {
      type: 'array',
      maxItems: 2,
      uniqueItems: true,
      items: { type: 'string', format: 'binary' },
    },
    seal: { type: 'string', format: 'byte', maxLength: 8 },
    id: { type: 'integer', readOnly: true },
  },
  additionalProperties: false,
};
const post = formChecker(pet);
const json = (name: string, text: string) => file(name, text, 'application/json', 'blob');
const integer = { type: 'integer' };
const binary = { type: 'string', format: 'binary' };
const list = (items: object) => ({ type: 'array', items });
const name = field('name', 'Tom');
const disposition = (rest: string, content = 'Tom') =>
  part(`Content-Disposition: form-data; ${rest}`, content);
/** The part `name` with further headers. */
const headed = (headers: string, content = 'Tom') =>
  part(`Content-Disposition: form-data; name="name"\n${headers}`, content);
/** A part of any name with a type. */
const typed = (name: string, type: string, content: string) =>
  part(`Content-Disposition: form-data; name="${name}"\nContent-Type: ${type}`, content);

describe('a form fits with', () => {
  test.each<[what: string, ...parts: string[]]>([
    ['what is required', name],
    ['an empty line behind its last part', disposition('name="name"', 'a\r\n')],
    ['an integer beyond 2^53', name, field('age', '9223372036854775807')],
    ['a number', name, field('weight', '-1.5e3')],
    ['true', name, field('tame', 'true')],
    ['a date', name, field('born', '2028-02-29')],
    ['an entry of a list', name, field('tags', 'a')],
    ['the entries of a list, apart', field('tags', 'a'), name, field('tags', 'b')],
    ['an object in JSON', name, json('owner', '{"id":1}')],
    ['an object of no type, which is JSON', name, field('owner', '{"id":1}')],
    ['objects in JSON', name, json('visits', '{"at":"2028-02-29"}'), json('visits', '{}')],
    ['a list of objects in one part', name, json('visits', '[{"at":"2028-02-29"},{}]')],
    ['a file of any type', name, file('photo', 'abc', 'image/png')],
    ['a file of no type', name, disposition('name="photo"; filename="f"', 'abc')],
    ['a file field left empty in a browser', name, file('photos', '', undefined, '')],
    ['a file that was not chosen, of no type', name, disposition('name="photos"; filename=""', '')],
    ['a file with its line ends', name, file('photo', '\r\n\r\n\n')],
    ['different files', name, file('photos', 'a'), file('photos', 'b')],
    ['base64', name, field('seal', 'AAAA')],
    ['the type and the charset of text', headed('Content-Type: text/plain; charset=UTF-8', 'Tür')],
    ['another charset where all is ASCII', headed('Content-Type: text/plain; charset=ISO-8859-1')],
    ['its length', headed('Content-Length: 3')],
    ['the encoding that changes nothing', headed('Content-Transfer-Encoding: binary')],
    [
      'names of headers in lower case',
      part('content-disposition: form-data; name="name"\ncontent-type: text/plain', 'Tom'),
    ],
    ['a name without quotes', disposition('name=name')],
    [
      'no space behind its semicolons',
      part('Content-Disposition:form-data;name="photo";filename="f"', 'abc'),
      name,
    ],
    ['a filename beyond ASCII', name, file('photo', 'abc', 'image/png', 'Tür 1.png')],
    [
      'a filename* that says the same',
      name,
      disposition(`name=photo; filename="Tür"; filename*=utf-8''T%C3%BCr`, 'abc'),
    ],
  ])('%s', (_what, ...parts) => {
    expect(post(body(...parts))).toEqual([]);
  });
});

describe('a form does not fit with', () => {
  test.each<[what: string, fault: string, ...parts: string[]]>([
    ['nothing', '/name is required'],
    ['a short string', '/name must have at least 2 characters', field('name', 'T')],
    ['a string of many characters', '/name must have at most 4 characters', field('name', 'Türen')],
    ['text for a number', '/age must be an integer', name, field('age', 'one')],
    ['a number with a blank', '/age must be an integer', name, field('age', ' 1')],
    ['a negative number', '/age must be at least 0', name, field('age', '-1')],
    [
      'more than int64',
      '/age must have the format int64',
      name,
      field('age', '9223372036854775808'),
    ],
    ['1 for true', '/tame must be true or false', name, field('tame', '1')],
    ['no date', '/born must have the format date', name, field('born', '2027-02-29')],
    ['a wrong entry', '/tags/1 must be one of: a, b', name, field('tags', 'a'), field('tags', 'c')],
    [
      'too many entries',
      '/tags must have at most 2 entries',
      name,
      ...['a', 'b', 'a'].map((one) => field('tags', one)),
    ],
    ['an object that lacks a member', '/owner/id is required', name, json('owner', '{}')],
    ['a wrong member', '/owner/id must be an integer', name, json('owner', '{"id":"1"}')],
    [
      'no JSON',
      '/owner is not valid JSON: a value is expected (at byte 0)',
      name,
      json('owner', 'x'),
    ],
    [
      'a name twice in JSON',
      '/owner/id is given more than once (at byte 12)',
      name,
      json('owner', '{"id":1,"id":1}'),
    ],
    [
      'an object of another type',
      '/owner must be of type application/json',
      name,
      file('owner', '{"id":1}', 'text/plain'),
    ],
    [
      'a wrong object in a list',
      '/visits/1/at must be a string',
      name,
      json('visits', '{}'),
      json('visits', '{"at":1}'),
    ],
    [
      'lists in a list',
      '/visits/0 must be an object',
      name,
      json('visits', '[]'),
      json('visits', '{}'),
    ],
    ['a small file', '/photo must have at least 2 bytes', name, file('photo', 'a')],
    ['a file of many bytes', '/photo must have at most 5 bytes', name, file('photo', 'äää')],
    ['a file that is text', '/photo is a file: it needs a filename', name, field('photo', 'abc')],
    [
      'text that is a file',
      '/name is not a file: it must not have a filename',
      file('name', 'Tom', 'text/plain'),
    ],
    [
      'text that is a file that was not chosen',
      '/name is not a file: it must not have a filename',
      disposition('name="name"; filename=""', ''),
    ],
    ['another type', '/name must be of type text/plain', headed('Content-Type: text/html')],
    [
      'the same file twice',
      '/photos must not have duplicate entries',
      name,
      file('photos', 'a'),
      file('photos', 'a'),
    ],
    ['no base64', '/seal must have the format byte', name, field('seal', 'A')],
    ['a member that is read-only and wrong', '/id must be an integer', name, field('id', 'x')],
    ['an unknown part', '/other is not defined in the contract', name, field('other', '1')],
    ['an unknown file', '/other is not defined in the contract', name, file('other', '1')],
    ['a part twice', '/name is given more than once', name, name],
    [
      'parts in a part',
      '/photo must not have parts itself',
      name,
      file('photo', 'abc', 'multipart/mixed; boundary=c'),
    ],
  ])('%s', (_what, fault, ...parts) => {
    expect(post(body(...parts))).toEqual([fault]);
  });

  test('several faults, and reports all', () => {
    expect(post(body(field('age', 'x'), field('tame', 'x'), field('tags', 'c'))).sort()).toEqual([
      '/age must be an integer',
      '/name is required',
      '/tags/0 must be one of: a, b',
      '/tame must be true or false',
    ]);
  });
});

describe('a form fits as it is written by', () => {
  const text = 'Content-Disposition: form-data; name="name"';
  const photo = 'Content-Disposition: form-data; name="photo"; filename="f.png"';
  test.each<[client: string, boundary: string, name: string, photo: string]>([
    ['curl', '------------------------d74496d66958873e', text, `${photo}\nContent-Type: image/png`],
    ['urllib3 and requests', '0fe2b8f8b0a3d3c3', text, `${photo}\nContent-Type: image/png`],
    [
      'HttpClient of .NET',
      '"4e1b2f50-7c4d-4a7e-9d0a-0f8c2b3a1d5e"',
      'Content-Type: text/plain; charset=utf-8\nContent-Disposition: form-data; name=name',
      "Content-Disposition: form-data; name=photo; filename=f.png; filename*=utf-8''f.png",
    ],
    [
      'OkHttp and Retrofit',
      '7d1f9e3c-5b2a-4c8d',
      `${text}\nContent-Transfer-Encoding: binary\nContent-Type: text/plain; charset=UTF-8\nContent-Length: 3`,
      `${photo}\nContent-Type: image/png\nContent-Length: 3`,
    ],
    [
      'HttpClient of Apache',
      'kX_8dYwq3-Zb',
      `${text}\nContent-Type: text/plain; charset=ISO-8859-1\nContent-Transfer-Encoding: 8bit`,
      `${photo}\nContent-Type: application/octet-stream\nContent-Transfer-Encoding: binary`,
    ],
    ['Go', '9c1d2f6e8a7b5c', text, `${photo}\nContent-Type: application/octet-stream`],
  ])('%s', (_client, boundary, name, photo) => {
    const line = `--${boundary.replaceAll('"', '')}`;
    const sent = `${line}\r\n${part(name, 'Tom')}\r\n${line}\r\n${part(photo, 'abc')}\r\n${line}--\r\n`;
    expect(post(sent, `multipart/form-data; boundary=${boundary}`)).toEqual([]);
  });
});

describe('what readers could read differently is refused:', () => {
  const good = body(name);
  const photo = (filename: string) => body(file('photo', 'x', 'a/b', filename));
  const named = (rest: string) => body(disposition(`name="photo"; ${rest}`));
  test.each(
    byFault({
      'must begin with the boundary that its Content-Type names': {
        'no body': '',
        'another boundary': good.replaceAll(BOUNDARY, 'other'),
        'text before the first boundary': `text\r\n${good}`,
        'an empty line before it': `\r\n${good}`,
      },
      'has something after its end': {
        'text behind the end': `${good}text`,
        'parts behind the end': good + body(field('age', '1')),
        'a second empty line behind the end': `${good}\r\n`,
        'text in the line of the end': good.replace('--\r\n', '--text'),
      },
      'has no end: part 1 is not followed by the boundary': {
        'no end': `--${BOUNDARY}\r\n${name}`,
      },
      'has a boundary that is not a line of its own': {
        'half an end': good.slice(0, -3),
        'bare line feeds': good.replaceAll('\r\n', '\n'),
        'blanks behind a boundary': good.replace(BOUNDARY, `${BOUNDARY} `),
        'a longer boundary': body(field('name', `a\r\n--${BOUNDARY}X`)),
      },
      'has its boundary inside part 1': {
        'a boundary behind a line feed': body(field('name', `a\n--${BOUNDARY}\r\n${name}`)),
        'a boundary behind a return': body(field('name', `a\r--${BOUNDARY}\r\n${name}`)),
        'a boundary in a line': body(field('name', `a--${BOUNDARY}`)),
        'a boundary in a name': body(field(`--${BOUNDARY}`, 'Tom')),
        'an empty part': `--${BOUNDARY}\r\n${good}`,
      },
      'has no end of headers in part 1': {
        'headers without an end': body('Content-Disposition: form-data; name="name"\r\nTom'),
      },
      'part 1 has an invalid header line': {
        'no headers': body('\r\n\r\nTom'),
        'a folded header': body(part('Content-Disposition: form-data;\n name="name"', 'Tom')),
        'a tab in a header': body(disposition('\tname="name"')),
        'a blank before the colon': good.replace(':', ' :'),
        'a blank at the end of a header': body(disposition('name="name" ')),
        'a bare line feed in headers': body(name.replace('\r\n\r\n', '\n\n\r\n\r\n')),
        'NUL in a name': body(field('na\0me', 'Tom')),
      },
      'part 2 must have a Content-Disposition of form-data': {
        'no Content-Disposition': body(name, part('Content-Type: text/plain', 'x')),
      },
      'part 1 must have a Content-Disposition of form-data': {
        'another disposition': good.replace('form-data', 'attachment'),
      },
      'part 1 has a header twice': {
        'two dispositions': body(headed('content-disposition: form-data; name="age"')),
      },
      'part 1 has a file without a filename': {
        'a file without a filename': photo(''),
        'a file of no type without a filename': named('filename=""'),
      },
      'part 1 has no name': {
        'no name': body(disposition('filename="f"')),
        'an empty name': body(disposition('name=""')),
      },
      'part 1 has a name twice': { 'two names': body(disposition('name="name"; name="age"')) },
      'part 1 has a filename twice': { 'two filenames': named('filename="a"; filename="b"') },
      'part 1 must have nothing but name and filename in Content-Disposition': {
        'an extended name': named("name*=utf-8''age"),
        'an unknown parameter': named('size=3'),
        'a semicolon too many': body(disposition('name="name";')),
        'a quote without an end': body(disposition('name="name')),
      },
      'part 1 has a name that readers read differently': {
        'a quote of PHP': body(disposition("name='role'", 'x')),
      },
      'part 1 has a name that readers decode differently': {
        'an escaped quote': body(disposition('name="na\\me"')),
        'an encoded quote': body(disposition('name="na%22me"')),
        'an encoded line end': body(disposition('name="na%0Ame"')),
      },
      'part 1 has a filename that readers read differently': {
        'an encoded word': photo('=?utf-8?Q?z?='),
        'a folder of Windows': photo('C:\\f'),
        'a folder': photo('../f'),
        'the folder itself': photo('..'),
        'a quote of PHP in a filename': named("filename=f'"),
      },
      'part 1 has a filename* that is not the filename, and no form may have one': {
        'another filename*': named(`filename="a"; filename*=utf-8''b`),
        'a filename* alone': named("filename*=utf-8''b"),
        'a filename* in Latin 1': named(`filename="b"; filename*=iso-8859-1''b`),
        'a filename* that is broken': named(`filename="b"; filename*=utf-8''%ff`),
        'a quote of PHP in a filename*': named(`filename*=utf-8''a'b; filename="a'b"`),
      },
      'part 1 must not have a Content-Transfer-Encoding': {
        base64: body(headed('Content-Transfer-Encoding: base64')),
        'quoted-printable': body(headed('Content-Transfer-Encoding: quoted-printable')),
      },
      'part 1 must not have a Content-Encoding': {
        'a compressed part': body(headed('Content-Encoding: gzip')),
      },
      'part 1 has a Content-Length that is not its length': {
        'another length': body(headed('Content-Length: 2')),
      },
      'part 1 has an invalid Content-Type': {
        'an invalid type': body(headed('Content-Type: text')),
      },
      '/name must be in UTF-8': {
        'another charset': body(headed('Content-Type: text/plain; charset=utf-16')),
        'a charset beyond ASCII': body(headed('Content-Type: text/plain; charset=latin1', 'Tür')),
        'a charset that is not ASCII': body(headed('Content-Type: text/plain; charset=utf-7')),
      },
      '/name begins with a byte order mark': {
        'a byte order mark': body(field('name', '\ufeffTom')),
      },
      '/_charset_ must name UTF-8, the only charset of forms here': {
        'a charset for all': body(field('_charset_', 'utf-16'), name),
      },
    }),
  )('%s', (_what, fault, sent) => {
    expect(post(sent)).toEqual([fault]);
  });

  test.each([
    ['a text', field('name', '\xff'), '/name is not UTF-8'],
    ['a name', field('\xff', 'a'), 'part 1 has headers that are not UTF-8'],
  ])('bytes that are not UTF-8 in %s', (_where, part, fault) => {
    expect(post(Buffer.from(body(part), 'latin1'))).toEqual([fault]);
  });

  const plain = 'needs a Content-Type with one plain boundary and no more';
  test.each([
    ['multipart/form-data', plain],
    ['multipart/form-data; boundary=', '415'],
    ['multipart/form-data; boundary=""', plain],
    ['multipart/form-data; boundary="b\\0undary"', plain],
    ['multipart/form-data; boundary="b0undary "', plain],
    ['multipart/form-data; boundary="b0 undary"', plain],
    [`multipart/form-data; boundary=${'b'.repeat(71)}`, plain],
    [`multipart/form-data; boundary=${BOUNDARY}; boundary*=other`, plain],
    [`multipart/form-data; boundary*0=b0; boundary*1=undary`, plain],
    [`multipart/form-data; boundary=${BOUNDARY}; type=x`, plain],
    [`multipart/form-data; boundary=${BOUNDARY}; boundary=x`, '415'],
    ['multipart/mixed; boundary=b0undary', '415'],
    ['multipart/form-data; charset=utf-16', '415'],
  ])('the type %j', (type, fault) => {
    expect(post(body(name), type)).toEqual([fault]);
  });
});

test('parts are bounded in number and in the size of their headers', () => {
  const open = formChecker({ type: 'object', properties: { a: list(integer) } });
  const parts = (count: number) => body(...Array.from({ length: count }, () => field('a', '1')));
  expect(open(parts(MAX_PARTS))).toEqual([]);
  expect(open(parts(MAX_PARTS + 1))).toEqual([`has more than ${MAX_PARTS} parts`]);
  const long = (size: number) =>
    body(headed(`X: ${'x'.repeat(size - headed('X: ', '').length + 4)}`));
  expect(post(long(MAX_HEAD))).toEqual([]);
  expect(post(long(MAX_HEAD + 1))).toEqual([
    `has more than ${MAX_HEAD} bytes of headers in part 1`,
  ]);
});

describe('encoding', () => {
  const of = (a: object, encoding: object) =>
    formChecker({ type: 'object', properties: { a } }, { a: encoding });
  const images = of(binary, { contentType: 'image/png, image/svg+xml, video/*' });
  const strings = of(
    { type: 'string', maxLength: 2 },
    { contentType: 'application/json, image/png' },
  );
  const object = { type: 'object', properties: { n: integer } };
  const objects = of(object, { contentType: 'application/xml; charset=utf-8' });
  const lists = of(list(binary), { contentType: 'image/png' });
  const sized = of(binary, {
    headers: {
      'X-Size': { required: true, schema: integer },
      'Content-Type': { required: true, schema: integer },
    },
  });
  const png = (content: string) => file('a', content, 'image/png');
  const withHeader = (header: string) => disposition(`name="a"; filename="f"${header}`, 'x');
  const notImage = '/a must be of type image/png, image/svg+xml, video/*';
  const two = '/a must have at most 2 characters';

  test.each<[what: string, check: typeof images, parts: string[], ...faults: string[]]>([
    ['image/png', images, [png('x')]],
    ['image/svg+xml', images, [file('a', 'x', 'image/svg+xml')]],
    ['video/mp4', images, [file('a', 'x', 'video/mp4')]],
    ['IMAGE/PNG', images, [file('a', 'x', 'IMAGE/PNG; x=y')]],
    ['image/jpeg', images, [file('a', 'x', 'image/jpeg')], notImage],
    ['text/plain', images, [file('a', 'x', 'text/plain')], notImage],
    ['image/*', images, [file('a', 'x', 'image/*')], notImage],
    ['no type, which is text', images, [withHeader('')], notImage],
    ['a string of JSON', strings, [json('a', '"xy"')]],
    ['a long string of JSON', strings, [json('a', '"xyz"')], two],
    ['no JSON', strings, [json('a', 'x')], '/a is not valid JSON: a value is expected (at byte 0)'],
    ['a string of bytes', strings, [png('ü')]],
    ['many bytes', strings, [png('üx')], two],
    ['XML', objects, [file('a', '<a><n>1</n></a>', 'application/xml')]],
    [
      'wrong XML',
      objects,
      [file('a', '<a><n>x</n></a>', 'application/xml')],
      '/a/n must be an integer',
    ],
    [
      'no XML',
      objects,
      [file('a', '<a><n>', 'application/xml')],
      '/a is not well-formed XML (line 1, column 7)',
    ],
    [
      'each entry',
      lists,
      [png('x'), file('a', 'x', 'image/gif')],
      '/a/1 must be of type image/png',
    ],
    ['a header', sized, [withHeader('\nx-size: 3')]],
    ['no header', sized, [withHeader('')], '/a has headers that do not fit: X-Size is required'],
    [
      'a wrong header',
      sized,
      [withHeader('\nX-Size: x')],
      '/a has headers that do not fit: X-Size must be an integer',
    ],
  ])('holds for %s', (_what, check, parts, ...faults) => {
    expect(check(body(...parts))).toEqual(faults);
  });

  test('has fields that mean nothing here, which are noted', () => {
    const encoding = {
      a: { style: 'form', explode: true, allowReserved: true },
      other: { contentType: 'a/b' },
    };
    const ignored = 'is ignored in multipart, as OpenAPI 3.0 says';
    expect(notesOf(formContract({ type: 'object', properties: { a: binary } }, encoding))).toEqual([
      ignored,
      ignored,
      ignored,
      'is ignored: the schema has no such property',
    ]);
  });

  test.each<[contentType: string, problem: string]>([
    ['image', 'image is not a media type'],
    [
      'application/x-protobuf',
      'bodies of type multipart/form-data cannot be checked: the part a cannot be checked as application/x-protobuf; x-unchecked-body: true lets them pass',
    ],
  ])('%s is a problem', (contentType, problem) => {
    const schema = { type: 'object', properties: { a: { type: 'object' } } };
    expect(problemsOf(() => formContract(schema, { a: { contentType } }))).toEqual([
      expect.stringContaining(problem),
    ]);
  });
});

describe('parts that the schema does not name', () => {
  const open = formChecker({ type: 'object' });
  const numbers = formChecker({ type: 'object', maxProperties: 2, additionalProperties: integer });
  const files = formChecker({
    type: 'object',
    additionalProperties: list({ ...binary, maxLength: 1 }),
  });
  const a = field('a', '1');

  test.each<[what: string, check: typeof open, parts: string[], ...faults: string[]]>([
    ['anything', open, [a, file('b', '\0', 'x/y'), file('__proto__', '{', 'application/json')]],
    [
      'no JSON',
      open,
      [typed('c', 'application/json', '{')],
      '/c is not valid JSON: a name in double quotes is expected (at byte 1)',
    ],
    ['bytes', open, [typed('a', 'a/b', '1')], '/a is a file: it needs a filename'],
    ['a name twice', open, [a, field('a', '2')], '/a is given more than once'],
    ['nothing', open, []],
    ['a number', numbers, [a]],
    ['no number', numbers, [field('a', 'x')], '/a must be an integer'],
    ['many', numbers, [a, field('b', '1'), field('c', '1')], 'must have at most 2 members'],
    ['files', files, [file('a', '1'), file('a', '2')]],
    ['a long file', files, [file('a', '1'), file('a', '22')], '/a/1 must have at most 1 byte'],
    [
      'names that are shown shortened and printable',
      post,
      [name, field(`a/~\u202e${'x'.repeat(99)}`, '1')],
      `/a~1~0\\u{202e}${'x'.repeat(52)}… is not defined in the contract`,
    ],
  ])('may be, or must fit additionalProperties: %s', (_what, check, parts, ...faults) => {
    expect(check(body(...parts))).toEqual(faults);
  });
});

test('a schema may be combined from others, and refer to them', () => {
  const schemas = {
    Base: { type: 'object', required: ['n'], properties: { n: integer } },
    File: { ...binary, minLength: 1 },
  };
  const allOf = [ref('Base'), { type: 'object', properties: { f: ref('File') } }];
  const combined = formChecker({ allOf }, {}, { schemas });
  expect(combined(body(field('n', '1'), file('f', 'x')))).toEqual([]);
  expect(combined(body(field('n', 'x'), file('f', '')))).toEqual([
    '/n must be an integer',
    '/f must have at least 1 byte',
  ]);
});

test.each<[schema: object, good: string, bad: string, fault: string]>([
  [
    { allOf: [binary, { maxLength: 3 }] },
    file('a', 'xxx'),
    file('a', 'xxxx'),
    '/a must have at most 3 bytes',
  ],
  [{ maxLength: 3 }, file('a', 'xxx'), file('a', 'xxxx'), '/a must have at most 3 characters'],
  [{ pattern: '^x$' }, file('a', 'x'), file('a', 'y'), '/a must match the pattern ^x$'],
  [
    { allOf: [{ type: 'string', maxLength: 3 }, { format: 'binary' }] },
    field('a', 'xxx'),
    field('a', 'xxxx'),
    '/a must have at most 3 characters',
  ],
])('what a schema says of a file counts, wherever it says it: %j', (schema, good, bad, fault) => {
  const check = formChecker({ type: 'object', properties: { a: schema } });
  expect([good, bad].map((sent) => check(body(sent)))).toEqual([[], [fault]]);
});

test('a form of no object is a problem', () => {
  expect(problemsOf(() => formContract({ type: 'string' }))).toEqual([
    expect.stringContaining(
      'bodies of type multipart/form-data cannot be checked: the schema describes no object',
    ),
  ]);
});

const anyName = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
  .filter((text) => !/[\p{Cc}"\\/%=]/u.test(text) && !/^\.\.?$/.test(text));
const anyBytes = fc.uint8Array({ maxLength: 300 });

describe('forms that FormData of Node writes', () => {
  const record = fc.record({
    name: fc.stringMatching(/^[a-zäß€]{2,4}$/),
    age: fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }),
    tame: fc.boolean(),
    tags: fc.array(fc.constantFrom('a', 'b'), { minLength: 1, maxLength: 2 }),
    owner: fc.record({ id: fc.integer(), name: fc.string() }),
    photos: fc.uniqueArray(anyBytes, {
      maxLength: 2,
      selector: (bytes) => Buffer.from(bytes).toString('hex'),
    }),
    filename: anyName,
  });
  const formOf = ({
    name,
    age,
    tame,
    tags,
    owner,
    photos,
    filename,
  }: typeof record extends fc.Arbitrary<infer T> ? T : never) => {
    const form = new FormData();
    form.append('name', name);
    form.append('age', String(age));
    form.append('tame', String(tame));
    for (const tag of tags) form.append('tags', tag);
    form.append('owner', new Blob([JSON.stringify(owner)], { type: 'application/json' }));
    for (const photo of photos)
      form.append(
        'photos',
        new Blob([photo as Uint8Array<ArrayBuffer>], { type: 'image/png' }),
        filename,
      );
    return form;
  };

  test('fit if their values do', async () => {
    await fc.assert(
      fc.asyncProperty(record, async (values) => {
        const { bytes, type } = await written(formOf(values));
        expect(post(bytes, type)).toEqual([]);
      }),
    );
  });

  test('with any byte damaged, dropped or doubled get an answer', async () => {
    const damage = fc.record({
      at: fc.nat(),
      byte: fc.nat(255),
      how: fc.constantFrom('change', 'drop', 'double', 'cut'),
    });
    await fc.assert(
      fc.asyncProperty(
        record,
        fc.array(damage, { minLength: 1, maxLength: 3 }),
        async (values, damages) => {
          const { bytes, type } = await written(formOf(values));
          let hurt = Buffer.from(bytes);
          for (const { at, byte, how } of damages) {
            const place = at % hurt.length;
            if (how === 'change') hurt[place] = byte;
            else if (how === 'cut') hurt = hurt.subarray(0, place + 1);
            else
              hurt = Buffer.concat([
                hurt.subarray(0, how === 'drop' ? place : place + 1),
                hurt.subarray(how === 'drop' ? place + 1 : place),
              ]);
          }
          for (const fault of post(hurt, type)) expect(fault).not.toBe('');
        },
      ),
      { numRuns: 1000 },
    );
  });
});

describe('JSON in a part is read as the JSON of a body is', () => {
  const json = (name: string, content: string) => typed(name, 'application/json', content);

  test('with its rule for integers, whatever is checked between the parts', () => {
    const properties = {
      number: integer,
      list: list(integer),
      object: { type: 'object', properties: { a: integer } },
      other: integer,
    };
    const contentType = 'application/json';
    const other = { contentType, headers: { 'X-Size': { schema: integer } } };
    const encoding = { number: { contentType }, list: { contentType }, other };
    const sent = body(
      json('number', '1.0'),
      json('list', '2'),
      json('list', '2.0'),
      json('object', '{"a":1e2}'),
      typed('other', 'application/json\nX-Size: 1', '1'),
    );
    const check = formChecker({ type: 'object', properties }, encoding);
    expect(check(sent)).toEqual([
      '/number must be an integer',
      '/list/1 must be an integer',
      '/object/a must be an integer',
    ]);
    const reading = { integers: 'any' } as const;
    expect(formChecker({ type: 'object', properties }, encoding, { reading })(sent)).toEqual([]);
    const plain = sent.replace('1.0', '1').replace('2.0', '2').replace('1e2', '1');
    expect(check(plain)).toEqual([]);
  });

  test('as deep as the setting says', () => {
    const schema = { type: 'object', properties: { a: { type: 'object' } } };
    const post = formChecker(schema, {}, { reading: { maxDepth: 2 } });
    expect(post(body(json('a', '{"b":{}}')))).toEqual([]);
    expect(post(body(json('a', '{"b":[[]]}')))).toEqual([
      '/a/b/0 is nested deeper than 2 levels (at byte 6)',
    ]);
  });
});

test('numbers in text follow the rule for integers', () => {
  const schema = { type: 'object', properties: { a: integer } };
  const sent = body(field('a', '1.0'));
  expect(formChecker(schema)(sent)).toEqual(['/a must be an integer']);
  expect(formChecker(schema, {}, { reading: { integers: 'any' } })(sent)).toEqual([]);
});
