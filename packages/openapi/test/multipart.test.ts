import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { MAX_HEAD, MAX_PARTS } from '../src/media/multipart/parts.ts';
import { byFault, done, load, notesOf, problemsOf } from './documents.ts';
import { BOUNDARY, body, field, file, formChecker, formOperation, part, written } from './forms.ts';

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
const name = field('name', 'Tom');
const disposition = (rest: string, content = 'Tom') =>
  part(`Content-Disposition: form-data; ${rest}`, content);

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
    [
      'a file field left empty in a browser',
      name,
      file('photos', '', 'application/octet-stream', ''),
    ],
    ['a file that was not chosen, of no type', name, disposition('name="photos"; filename=""', '')],
    ['a file with its line ends', name, file('photo', '\r\n\r\n\n')],
    ['different files', name, file('photos', 'a'), file('photos', 'b')],
    ['base64', name, field('seal', 'AAAA')],
    [
      'the type and the charset of text',
      part(
        'Content-Disposition: form-data; name="name"\nContent-Type: text/plain; charset=UTF-8',
        'Tür',
      ),
    ],
    [
      'another charset where all is ASCII',
      part(
        'Content-Disposition: form-data; name="name"\nContent-Type: text/plain; charset=ISO-8859-1',
        'Tom',
      ),
    ],
    ['its length', part('Content-Disposition: form-data; name="name"\nContent-Length: 3', 'Tom')],
    [
      'the encoding that changes nothing',
      part('content-disposition: form-data; name="name"\nContent-Transfer-Encoding: binary', 'Tom'),
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
      part(
        `Content-Disposition: form-data; name=photo; filename="Tür"; filename*=utf-8''T%C3%BCr`,
        'abc',
      ),
    ],
  ])('%s', (_what, ...parts) => {
    expect(post(body(...parts))).toEqual([]);
  });
});

describe('a form does not fit with', () => {
  test.each<[what: string, fault: string, ...parts: string[]]>([
    ['nothing', '/name is required'],
    ['a string too short', '/name must have at least 2 characters', field('name', 'T')],
    [
      'a string too long, in characters',
      '/name must have at most 4 characters',
      field('name', 'Türen'),
    ],
    ['text for a number', '/age must be an integer', name, field('age', 'one')],
    ['a number with a blank', '/age must be an integer', name, field('age', ' 1')],
    ['a negative number', '/age must be at least 0', name, field('age', '-1')],
    [
      'a number that int64 does not have',
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
    ['a file too small', '/photo must have at least 2 bytes', name, file('photo', 'a')],
    ['a file too large, in bytes', '/photo must have at most 5 bytes', name, file('photo', 'äää')],
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
    [
      'text of another type',
      '/name must be of type text/plain',
      part('Content-Disposition: form-data; name="name"\nContent-Type: text/html', 'Tom'),
    ],
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

describe('a required list without parts', () => {
  const text = { type: 'string' };
  const list = { type: 'array', items: text };
  const schema = {
    type: 'object',
    required: ['names', 'files'],
    properties: { names: list, files: { ...list, minItems: 1 } },
  };
  const file = disposition('name="files"; filename="f"', 'abc');

  test('is empty, so minItems decides', () => {
    const files = { ...list, items: { type: 'string', format: 'binary' }, minItems: 1 };
    const check = formChecker({ ...schema, properties: { names: list, files } });
    expect(check(body(file))).toEqual([]);
    expect(check(body(field('names', 'a')))).toEqual(['/files must have at least 1 entry']);
    expect(check(body())).toEqual(['/files must have at least 1 entry']);
  });

  test('is missing if it is for answers only', () => {
    const names = { ...list, readOnly: true, minItems: 1 };
    const check = formChecker(
      { type: 'object', required: ['names'], properties: { names } },
      {},
      {},
      { readOnly: 'refuse' },
    );
    expect(check(body(field('other', 'a')))).toEqual([]);
  });
});

describe('a form fits as it is written by', () => {
  const text = 'Content-Disposition: form-data; name="name"';
  const photo = 'Content-Disposition: form-data; name="photo"; filename="f.png"';
  test.each<[client: string, boundary: string, ...parts: string[]]>([
    [
      'curl',
      '------------------------d74496d66958873e',
      part(text, 'Tom'),
      part(`${photo}\nContent-Type: image/png`, 'abc'),
    ],
    [
      'urllib3 and requests',
      '0fe2b8f8b0a3d3c3',
      part(text, 'Tom'),
      part(`${photo}\nContent-Type: image/png`, 'abc'),
    ],
    [
      'HttpClient of .NET',
      '"4e1b2f50-7c4d-4a7e-9d0a-0f8c2b3a1d5e"',
      part(
        'Content-Type: text/plain; charset=utf-8\nContent-Disposition: form-data; name=name',
        'Tom',
      ),
      part(
        "Content-Disposition: form-data; name=photo; filename=f.png; filename*=utf-8''f.png",
        'abc',
      ),
    ],
    [
      'OkHttp and Retrofit',
      '7d1f9e3c-5b2a-4c8d',
      part(
        `${text}\nContent-Transfer-Encoding: binary\nContent-Type: text/plain; charset=UTF-8\nContent-Length: 3`,
        'Tom',
      ),
      part(`${photo}\nContent-Type: image/png\nContent-Length: 3`, 'abc'),
    ],
    [
      'HttpClient of Apache',
      'kX_8dYwq3-Zb',
      part(
        `${text}\nContent-Type: text/plain; charset=ISO-8859-1\nContent-Transfer-Encoding: 8bit`,
        'Tom',
      ),
      part(
        `${photo}\nContent-Type: application/octet-stream\nContent-Transfer-Encoding: binary`,
        'abc',
      ),
    ],
    [
      'Go',
      '9c1d2f6e8a7b5c4d3e2f1a0b',
      part(text, 'Tom'),
      part(`${photo}\nContent-Type: application/octet-stream`, 'abc'),
    ],
  ])('%s', (_client, boundary, ...parts) => {
    const plain = boundary.replaceAll('"', '');
    const sent = `${parts.map((one) => `--${plain}\r\n${one}\r\n`).join('')}--${plain}--\r\n`;
    expect(post(sent, `multipart/form-data; boundary=${boundary}`)).toEqual([]);
  });
});

describe('quotes that PHP reads and others do not are refused in', () => {
  test.each([
    [
      'a name',
      "Content-Disposition: form-data; name='role'",
      'has a name that readers read differently',
    ],
    [
      'a filename',
      "Content-Disposition: form-data; name=photo; filename=f'",
      'has a filename that readers read differently',
    ],
    [
      'a filename*',
      `Content-Disposition: form-data; filename*=utf-8''a'b; filename="a'b"; name="photo"`,
      'has a filename* that is not the filename, and no form may have one',
    ],
  ])('%s', (_what, header, fault) => {
    expect(post(body(name, part(header, 'x'))).join()).toContain(fault);
  });
});

describe('what readers could read differently is refused:', () => {
  const good = body(name);
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
        'a longer boundary': body(disposition('name="name"', `a\r\n--${BOUNDARY}X`)),
      },
      'has its boundary inside part 1': {
        'a boundary behind a bare line feed': body(
          disposition('name="name"', `a\n--${BOUNDARY}\r\n${field('age', '1')}`),
        ),
        'a boundary behind a bare return': body(
          disposition('name="name"', `a\r--${BOUNDARY}\r\n${field('age', '1')}`),
        ),
        'a boundary in a line': body(disposition('name="name"', `a--${BOUNDARY}`)),
        'a boundary in a name': body(disposition(`name="--${BOUNDARY}"`)),
        'an empty part': `--${BOUNDARY}\r\n${good}`,
      },
      'has no end of headers in part 1': {
        'headers without an end': body('Content-Disposition: form-data; name="name"\r\nTom'),
      },
      'part 1 has an invalid header line': {
        'no headers': body('\r\n\r\nTom'),
        'a folded header': body(part('Content-Disposition: form-data;\n name="name"', 'Tom')),
        'a tab in a header': body(disposition('\tname="name"')),
        'a blank before the colon': body(
          part('Content-Disposition : form-data; name="name"', 'Tom'),
        ),
        'a blank at the end of a header': body(disposition('name="name" ')),
        'a bare line feed in headers': body(
          disposition('name="name"').replace('\r\n\r\n', '\n\n\r\n\r\n'),
        ),
        'NUL in a name': body(disposition('name="na\0me"')),
      },
      'part 2 must have a Content-Disposition of form-data': {
        'a Content-Disposition of none': body(name, part('Content-Type: text/plain', 'x')),
      },
      'part 1 must have a Content-Disposition of form-data': {
        'another disposition': body(part('Content-Disposition: attachment; name="name"', 'Tom')),
      },
      'part 1 has a header twice': {
        'two dispositions': body(
          part(
            'Content-Disposition: form-data; name="name"\ncontent-disposition: form-data; name="age"',
            '1',
          ),
        ),
      },
      'part 1 has a file without a filename': {
        'a file without a filename': body(file('photo', 'abc', 'application/octet-stream', '')),
        'a file of no type without a filename': body(
          disposition('name="photo"; filename=""', 'abc'),
        ),
      },
      'part 1 has no name': {
        'no name': body(disposition('filename="f"')),
        'an empty name': body(disposition('name=""')),
      },
      'part 1 has a name twice': {
        'two names': body(disposition('name="name"; name="age"')),
      },
      'part 1 has a filename twice': {
        'two filenames': body(disposition('name="name"; filename="a"; filename="b"')),
      },
      'part 1 must have nothing but name and filename in Content-Disposition': {
        'an extended name': body(disposition(`name="name"; name*=utf-8''age`)),
        'an unknown parameter': body(disposition('name="name"; size=3')),
        'a semicolon too many': body(disposition('name="name";')),
        'a quote without an end': body(disposition('name="name')),
      },
      'part 1 has a name that readers decode differently': {
        'an escaped quote': body(disposition('name="na\\me"')),
        'an encoded quote': body(disposition('name="na%22me"')),
        'an encoded line end': body(disposition('name="na%0Ame"')),
      },
      'part 1 has a filename that readers read differently': {
        'an encoded word': body(file('photo', 'x', 'a/b', '=?utf-8?Q?z?=')),
        'a folder of Windows': body(file('photo', 'x', 'a/b', 'C:\\f')),
        'a folder': body(file('photo', 'x', 'a/b', '../f')),
        'the folder itself': body(file('photo', 'x', 'a/b', '..')),
      },
      'part 1 has a filename* that is not the filename, and no form may have one': {
        'another filename*': body(disposition(`name="photo"; filename="a"; filename*=utf-8''b`)),
        'a filename* alone': body(disposition(`name="photo"; filename*=utf-8''b`)),
        'a filename* in Latin 1': body(
          disposition(`name="photo"; filename="b"; filename*=iso-8859-1''b`),
        ),
        'a filename* that is broken': body(
          disposition(`name="photo"; filename="b"; filename*=utf-8''%ff`),
        ),
      },
      'part 1 must not have a Content-Transfer-Encoding': {
        base64: body(
          part(
            'Content-Disposition: form-data; name="name"\nContent-Transfer-Encoding: base64',
            'Tom',
          ),
        ),
        'quoted-printable': body(
          part(
            'Content-Disposition: form-data; name="name"\nContent-Transfer-Encoding: quoted-printable',
            'Tom',
          ),
        ),
      },
      'part 1 must not have a Content-Encoding': {
        'a compressed part': body(
          part('Content-Disposition: form-data; name="name"\nContent-Encoding: gzip', 'Tom'),
        ),
      },
      'part 1 has a Content-Length that is not its length': {
        'another length': body(
          part('Content-Disposition: form-data; name="name"\nContent-Length: 2', 'Tom'),
        ),
      },
      'part 1 has an invalid Content-Type': {
        'an invalid type': body(
          part('Content-Disposition: form-data; name="name"\nContent-Type: text', 'Tom'),
        ),
      },
      '/name must be in UTF-8': {
        'another charset': body(
          part(
            'Content-Disposition: form-data; name="name"\nContent-Type: text/plain; charset=utf-16',
            'Tom',
          ),
        ),
        'another charset beyond ASCII': body(
          part(
            'Content-Disposition: form-data; name="name"\nContent-Type: text/plain; charset=iso-8859-1',
            'Tür',
          ),
        ),
        'a charset that is not ASCII': body(
          part(
            'Content-Disposition: form-data; name="name"\nContent-Type: text/plain; charset=utf-7',
            'Tom',
          ),
        ),
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

  test('bytes that are not UTF-8, in a text and in a name', () => {
    expect(post(Buffer.from(body(field('name', '\xff')), 'latin1'))).toEqual([
      '/name is not UTF-8',
    ]);
    expect(post(Buffer.from(body(field('\xff', 'a')), 'latin1'))).toEqual([
      'part 1 has headers that are not UTF-8',
    ]);
  });

  test.each([
    'multipart/form-data',
    'multipart/form-data; boundary=',
    'multipart/form-data; boundary=""',
    'multipart/form-data; boundary="b\\0undary"',
    'multipart/form-data; boundary="b0undary "',
    'multipart/form-data; boundary="b0 undary"',
    `multipart/form-data; boundary=${'b'.repeat(71)}`,
    `multipart/form-data; boundary=${BOUNDARY}; boundary*=other`,
    `multipart/form-data; boundary*0=b0; boundary*1=undary`,
    `multipart/form-data; boundary=${BOUNDARY}; type=x`,
  ])('the type %j', (type) => {
    expect(post(body(name), type)).toEqual(
      type.endsWith('boundary=')
        ? ['415']
        : ['needs a Content-Type with one plain boundary and no more'],
    );
  });

  test.each([
    `multipart/form-data; boundary=${BOUNDARY}; boundary=x`,
    'multipart/mixed; boundary=b0undary',
    'multipart/form-data; charset=utf-16',
  ])('and %j is 415', (type) => {
    expect(post(body(name), type)).toEqual(['415']);
  });
});

describe('bounds', () => {
  test('of parts', () => {
    const open = formChecker({
      type: 'object',
      properties: { a: { type: 'array', items: { type: 'integer' } } },
    });
    const parts = (count: number) => body(...Array.from({ length: count }, () => field('a', '1')));
    expect(open(parts(MAX_PARTS))).toEqual([]);
    expect(open(parts(MAX_PARTS + 1))).toEqual([`has more than ${MAX_PARTS} parts`]);
  });

  test('of the headers of a part', () => {
    const start = 'Content-Disposition: form-data; name="name"\nX: ';
    const long = (size: number) => body(part(start + 'x'.repeat(size - start.length - 1), 'Tom'));
    expect(post(long(MAX_HEAD))).toEqual([]);
    expect(post(long(MAX_HEAD + 1))).toEqual([
      `has more than ${MAX_HEAD} bytes of headers in part 1`,
    ]);
  });
});

describe('encoding', () => {
  const image = { type: 'object', properties: { image: { type: 'string', format: 'binary' } } };
  const images = formChecker(image, {
    image: { contentType: 'image/png, image/svg+xml, video/*' },
  });

  test.each(['image/png', 'image/svg+xml', 'video/mp4', 'IMAGE/PNG; x=y'])(
    'takes a file of type %s',
    (type) => {
      expect(images(body(file('image', 'x', type)))).toEqual([]);
    },
  );

  test.each(['image/jpeg', 'text/plain', 'image/*'])('refuses a file of type %s', (type) => {
    expect(images(body(file('image', 'x', type)))).toEqual([
      '/image must be of type image/png, image/svg+xml, video/*',
    ]);
  });

  test('refuses a part of no type, which is plain text', () => {
    expect(
      images(body(part('Content-Disposition: form-data; name="image"; filename="f"', 'x'))),
    ).toEqual(['/image must be of type image/png, image/svg+xml, video/*']);
  });

  test('makes a string a JSON string, or bytes', () => {
    const strings = formChecker(
      { type: 'object', properties: { a: { type: 'string', maxLength: 2 } } },
      { a: { contentType: 'application/json, image/png' } },
    );
    expect(strings(body(file('a', '"xy"', 'application/json')))).toEqual([]);
    expect(strings(body(file('a', '"xyz"', 'application/json')))).toEqual([
      '/a must have at most 2 characters',
    ]);
    expect(strings(body(file('a', 'xy', 'application/json')))[0]).toMatch('/a is not valid JSON');
    expect(strings(body(file('a', 'ü', 'image/png')))).toEqual([]);
    expect(strings(body(file('a', 'üx', 'image/png')))).toEqual([
      '/a must have at most 2 characters',
    ]);
  });

  test('makes an object XML', () => {
    const objects = formChecker(
      {
        type: 'object',
        properties: { a: { type: 'object', properties: { n: { type: 'integer' } } } },
      },
      { a: { contentType: 'application/xml; charset=utf-8' } },
    );
    expect(objects(body(file('a', '<a><n>1</n></a>', 'application/xml')))).toEqual([]);
    expect(objects(body(file('a', '<a><n>x</n></a>', 'application/xml')))).toEqual([
      '/a/n must be an integer',
    ]);
    expect(objects(body(file('a', '<a><n>', 'application/xml')))).toEqual([
      '/a is not well-formed XML (line 1, column 7)',
    ]);
  });

  test('may ask for headers', () => {
    const headed = formChecker(image, {
      image: {
        headers: {
          'X-Size': { required: true, schema: { type: 'integer' } },
          'Content-Type': { required: true, schema: { type: 'integer' } },
        },
      },
    });
    const withHeader = (header: string) =>
      headed(
        body(part(`Content-Disposition: form-data; name="image"; filename="f"${header}`, 'x')),
      );
    expect(withHeader('\nx-size: 3')).toEqual([]);
    expect(withHeader('')).toEqual(['/image has headers that do not fit: X-Size is required']);
    expect(withHeader('\nX-Size: x')).toEqual([
      '/image has headers that do not fit: X-Size must be an integer',
    ]);
  });

  test('of a list holds for each of its parts', () => {
    const list = formChecker(
      {
        type: 'object',
        properties: { a: { type: 'array', items: { type: 'string', format: 'binary' } } },
      },
      { a: { contentType: 'image/png' } },
    );
    expect(list(body(file('a', 'x', 'image/png'), file('a', 'x', 'image/gif')))).toEqual([
      '/a/1 must be of type image/png',
    ]);
  });

  test('has fields that mean nothing here, which are noted', () => {
    const content = {
      'multipart/form-data': {
        schema: image,
        encoding: {
          image: { style: 'form', explode: true, allowReserved: true },
          other: { contentType: 'a/b' },
        },
      },
    };
    expect(notesOf(load({ '/': { post: { requestBody: { content }, responses: done } } }))).toEqual(
      [
        'is ignored in multipart, as OpenAPI 3.0 says',
        'is ignored in multipart, as OpenAPI 3.0 says',
        'is ignored in multipart, as OpenAPI 3.0 says',
        'is ignored: the schema has no such property',
      ],
    );
  });

  test.each<[contentType: string, problem: string]>([
    ['image', 'image is not a media type'],
    [
      'application/x-protobuf',
      'bodies of type multipart/form-data cannot be checked: the part a cannot be checked as application/x-protobuf; x-unchecked-body: true lets them pass',
    ],
  ])('%s is a problem', (contentType, problem) => {
    const schema = { type: 'object', properties: { a: { type: 'object' } } };
    expect(problemsOf(() => void formOperation(schema, { a: { contentType } }) as never)).toEqual([
      expect.stringContaining(problem),
    ]);
  });
});

describe('parts that the schema does not name', () => {
  test('may be anything unless it says more', () => {
    const open = formChecker({ type: 'object' });
    expect(
      open(
        body(field('a', '1'), file('b', '\0', 'x/y'), file('__proto__', '{', 'application/json')),
      ),
    ).toEqual([]);
    expect(open(body(file('c', '{', 'application/json').replace('; filename="f"', '')))[0]).toMatch(
      'is not valid JSON',
    );
    expect(
      open(body(part('Content-Disposition: form-data; name="a"\nContent-Type: a/b', '1'))),
    ).toEqual(['/a is a file: it needs a filename']);
    expect(open(body(field('a', '1'), field('a', '2')))).toEqual(['/a is given more than once']);
    expect(open(body())).toEqual([]);
  });

  test('must fit additionalProperties', () => {
    const numbers = formChecker({
      type: 'object',
      maxProperties: 2,
      additionalProperties: { type: 'integer' },
    });
    expect(numbers(body(field('a', '1')))).toEqual([]);
    expect(numbers(body(field('a', 'x')))).toEqual(['/a must be an integer']);
    expect(numbers(body(field('a', '1'), field('b', '1'), field('c', '1')))).toEqual([
      'must have at most 2 members',
    ]);
    const files = formChecker({
      type: 'object',
      additionalProperties: {
        type: 'array',
        items: { type: 'string', format: 'binary', maxLength: 1 },
      },
    });
    expect(files(body(file('a', '1'), file('a', '2')))).toEqual([]);
    expect(files(body(file('a', '1'), file('a', '22')))).toEqual(['/a/1 must have at most 1 byte']);
  });

  test('have names that are shown shortened and printable', () => {
    expect(post(body(name, field(`a/~\u202e${'x'.repeat(99)}`, '1')))).toEqual([
      `/a~1~0\\u{202e}${'x'.repeat(52)}… is not defined in the contract`,
    ]);
  });
});

test('a schema may be combined from others, and refer to them', () => {
  const combined = formChecker(
    {
      allOf: [
        { $ref: '#/components/schemas/Base' },
        { type: 'object', properties: { f: { $ref: '#/components/schemas/File' } } },
      ],
    },
    {},
    {
      Base: { type: 'object', required: ['n'], properties: { n: { type: 'integer' } } },
      File: { type: 'string', format: 'binary', minLength: 1 },
    },
  );
  expect(combined(body(field('n', '1'), file('f', 'x')))).toEqual([]);
  expect(combined(body(field('n', 'x'), file('f', '')))).toEqual([
    '/n must be an integer',
    '/f must have at least 1 byte',
  ]);
});

test('what a schema says of a file counts, wherever it says it', () => {
  const file3 = formChecker({
    type: 'object',
    properties: {
      a: { allOf: [{ type: 'string', format: 'binary' }, { maxLength: 3 }] },
      b: { maxLength: 3 },
      c: { pattern: '^x$' },
      d: { allOf: [{ type: 'string', maxLength: 3 }, { format: 'binary' }] },
    },
  });
  for (const name of ['a', 'b']) {
    expect(file3(body(file(name, 'xxx')))).toEqual([]);
    expect(file3(body(file(name, 'xxxx')))).toEqual([
      expect.stringContaining(`/${name} must have at most 3`),
    ]);
  }
  expect(file3(body(file('c', 'x')))).toEqual([]);
  expect(file3(body(file('c', 'y')))).toEqual(['/c must match the pattern ^x$']);
  expect(file3(body(field('d', 'xxx')))).toEqual([]);
  expect(file3(body(field('d', 'xxxx')))).toEqual(['/d must have at most 3 characters']);
});

test('a form of no object is a problem', () => {
  expect(problemsOf(() => void formOperation({ type: 'string' }) as never)).toEqual([
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
  const json = (name: string, content: string) =>
    part(`Content-Disposition: form-data; name="${name}"\nContent-Type: application/json`, content);
  const integers = {
    type: 'object',
    properties: {
      number: { type: 'integer' },
      list: { type: 'array', items: { type: 'integer' } },
      object: { type: 'object', properties: { a: { type: 'integer' } } },
      other: { type: 'integer' },
    },
  };
  const encoding = {
    number: { contentType: 'application/json' },
    list: { contentType: 'application/json' },
    other: {
      contentType: 'application/json',
      headers: { 'X-Size': { schema: { type: 'integer' } } },
    },
  };
  const sent = body(
    json('number', '1.0'),
    json('list', '2'),
    json('list', '2.0'),
    json('object', '{"a":1e2}'),
    part(
      'Content-Disposition: form-data; name="other"\nContent-Type: application/json\nX-Size: 1',
      '1',
    ),
  );

  test('with its rule for integers, whatever is checked between the parts', () => {
    expect(formChecker(integers, encoding)(sent)).toEqual([
      '/number must be an integer',
      '/list/1 must be an integer',
      '/object/a must be an integer',
    ]);
    expect(formChecker(integers, encoding, {}, { integers: 'any' })(sent)).toEqual([]);
    expect(
      formChecker(
        integers,
        encoding,
      )(sent.replace('1.0', '1').replace('2.0', '2').replace('1e2', '1')),
    ).toEqual([]);
  });

  test('as deep as the setting says', () => {
    const schema = { type: 'object', properties: { a: { type: 'object' } } };
    const post = formChecker(schema, {}, {}, { maxDepth: 2 });
    expect(post(body(json('a', '{"b":{}}')))).toEqual([]);
    expect(post(body(json('a', '{"b":[[]]}')))).toEqual([
      '/a/b/0 is nested deeper than 2 levels (at byte 6)',
    ]);
  });
});

test('numbers in text follow the rule for integers', () => {
  const schema = { type: 'object', properties: { a: { type: 'integer' } } };
  expect(formChecker(schema)(body(field('a', '1.0')))).toEqual(['/a must be an integer']);
  expect(formChecker(schema, {}, {}, { integers: 'any' })(body(field('a', '1.0')))).toEqual([]);
});
