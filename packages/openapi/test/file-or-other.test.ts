import { describe, expect, test } from '@jest/globals';
import { body, field, file, formChecker, part, written } from './forms.ts';

const bytes = { type: 'string', format: 'binary', maxLength: 8 };
const link = {
  type: 'object',
  required: ['url'],
  properties: { url: { type: 'string' } },
  additionalProperties: false,
};
const word = { type: 'string', enum: ['auto', 'none'] };

/** Without the remark that a fault is one of several alternatives. */
function of(a: object, encoding: object = {}, openapi?: string) {
  const schemas = { Link: link, Bytes: bytes };
  const more = { schemas, openapi };
  const check = formChecker({ type: 'object', properties: { a } }, { a: encoding }, more);
  return (...call: Parameters<typeof check>) =>
    check(...call).map((fault) => fault.replace(' (in one of the schemas)', ''));
}
const typed = (type: string, content: string) =>
  body(part(`Content-Disposition: form-data; name="a"\nContent-Type: ${type}`, content));

const GOOD = '{"url":"x"}';
const sent = {
  file: body(file('a', 'abc')),
  'a file of no type': body(part('Content-Disposition: form-data; name="a"; filename="f"', 'abc')),
  'a file of text': body(file('a', 'other', 'text/plain')),
  'a file of JSON': body(file('a', '{}', 'application/json')),
  'a long file': body(file('a', '123456789')),
  JSON: typed('application/json', GOOD),
  'wrong JSON': typed('application/json', '{}'),
  'JSON of no type': body(field('a', GOOD)),
  'broken JSON of no type': body(field('a', ' {"url":"x","url":"y"}')),
  'JSON that is text': typed('text/plain', GOOD),
  word: body(field('a', 'auto')),
  'a word of its type': typed('text/plain; charset=utf-8', 'auto'),
  'another word': body(field('a', 'x')),
  'an image without a filename': typed('image/png', 'abc'),
  'bytes without a filename': typed('application/octet-stream', 'abc'),
  'a form': typed('multipart/mixed; boundary=a', 'abc'),
  XML: typed('application/xml', '<a/>'),
};

const needsName = ['/a is a file: it needs a filename'];
const long = (...faults: string[]) =>
  expect.arrayContaining([
    '/a must have at most 8 bytes',
    ...faults,
    '/a must match one of the schemas',
  ]);

describe.each(['anyOf', 'oneOf'])('a part that may be, by %s,', (keyword) => {
  const either = (...forms: object[]) => ({ [keyword]: forms });

  test.each<[what: string, schema: object]>([
    ['a file or an object', either(bytes, link)],
    [
      'an object or a file, by reference',
      either({ $ref: '#/components/schemas/Link' }, { $ref: '#/components/schemas/Bytes' }),
    ],
    [
      'either of them inside of another schema',
      { allOf: [{ description: 'x', [keyword]: [link, either(bytes)] }] },
    ],
  ])('%s is what the part says', (_, schema) => {
    const post = of(schema);
    for (const good of [
      'file',
      'a file of no type',
      'a file of text',
      'a file of JSON',
      'JSON',
      'JSON of no type',
    ] as const)
      expect([good, post(sent[good])]).toEqual([good, []]);
    expect(post(sent['a long file'])).toEqual(long('/a must be an object'));
    expect(post(sent['wrong JSON'])).toEqual(
      expect.arrayContaining(['/a/url is required', '/a must be a file']),
    );
    expect(post(sent['broken JSON of no type'])).toEqual([
      '/a/url is given more than once (at byte 17)',
    ]);
    expect(post(sent.word)).toEqual(['/a is not valid JSON: a value is expected (at byte 0)']);
    for (const bad of ['JSON that is text', 'XML', 'a word of its type'] as const)
      expect([bad, post(sent[bad])]).toEqual([bad, ['/a must be of type application/json']]);
    for (const bad of ['an image without a filename', 'bytes without a filename'] as const)
      expect([bad, post(sent[bad])]).toEqual([bad, needsName]);
    expect(post(sent['a form'])).toEqual(['/a must not have parts itself']);
  });

  test('a file or text is what the part says', () => {
    const post = of(either(bytes, word));
    for (const good of ['file', 'a file of text', 'word', 'a word of its type'] as const)
      expect([good, post(sent[good])]).toEqual([good, []]);
    expect(post(sent['a long file'])).toEqual(long('/a must be a string'));
    expect(post(sent['another word'])).toEqual(
      expect.arrayContaining(['/a must be a file', '/a must be one of: auto, none']),
    );
    expect(post(sent.JSON)).toEqual(['/a must be of type text/plain']);
    expect(post(sent['bytes without a filename'])).toEqual(needsName);
  });

  test('a file or any text: each form has its own limits', () => {
    const post = of(either({ ...bytes, minLength: 2 }, { type: 'string', maxLength: 3 }));
    expect(post(sent.word)).toEqual(
      expect.arrayContaining(['/a must be a file', '/a must have at most 3 characters']),
    );
    expect(post(sent['another word'])).toEqual([]);
    expect(post(body(file('a', '1')))).toEqual(
      expect.arrayContaining(['/a must have at least 2 bytes']),
    );
  });

  test('a file, an object or text is what the part says', () => {
    const post = of(either(bytes, link, word, { type: 'integer' }));
    for (const good of ['file', 'JSON', 'JSON of no type', 'word', 'a word of its type'] as const)
      expect([good, post(sent[good])]).toEqual([good, []]);
    expect(post(body(field('a', '12')))).toEqual([]);
    expect(post(sent['broken JSON of no type'])).toEqual([
      '/a/url is given more than once (at byte 17)',
    ]);
    expect(post(sent['JSON that is text'])).toContain('/a must be one of: auto, none');
    expect(post(sent.XML)).toEqual(['/a must be of type application/json, text/plain']);
  });

  test('an object or text is what the part says, and no file', () => {
    const post = of(either(link, word));
    for (const good of ['JSON', 'JSON of no type', 'word', 'a word of its type'] as const)
      expect([good, post(sent[good])]).toEqual([good, []]);
    expect(post(body(file('a', GOOD, 'application/json', 'blob')))).toEqual([]);
    expect(post(body(file('a', 'auto', 'text/plain')))).toEqual([
      '/a is not a file: it must not have a filename',
    ]);
    expect(post(sent['broken JSON of no type'])).toEqual([
      '/a/url is given more than once (at byte 17)',
    ]);
    expect(post(sent.file)).toEqual(['/a must be of type application/json, text/plain']);
  });

  test('files or objects in a list are each what they say', () => {
    const post = of({ type: 'array', items: either(bytes, link, word) });
    const mixed = [file('a', 'abc'), field('a', GOOD), field('a', 'auto')];
    expect(post(body(...mixed))).toEqual([]);
    expect(post(body(...mixed, field('a', 'x')))).toEqual(
      expect.arrayContaining(['/a/3 must be a file']),
    );
    expect(post(body(...mixed, file('a', '123456789')))).toContain(
      '/a/3 must have at most 8 bytes',
    );
  });

  test('a text in a list that is one part is not a file', () => {
    const post = of({ type: 'array', items: either(bytes, link) });
    expect(post(body(field('a', `[${GOOD}]`)))).toEqual([]);
    expect(post(body(field('a', `[${GOOD},"abc"]`)))).toEqual(
      expect.arrayContaining(['/a/1 must be a file', '/a/1 must be an object']),
    );
  });
});

describe('contentType decides what a part that may be a file is:', () => {
  const post = of({ anyOf: [bytes, link] }, { contentType: 'image/png, application/json' });

  test('a file has one of its types', () => {
    expect(post(body(file('a', 'abc', 'image/png')))).toEqual([]);
    expect(post(sent.file)).toEqual(['/a must be of type image/png, application/json']);
    expect(post(body(field('a', GOOD)))).toEqual([
      '/a must be of type image/png, application/json',
    ]);
    expect(post(sent['an image without a filename'])).toEqual(needsName);
  });

  test('JSON that it names is JSON, though browsers give it a filename', async () => {
    const form = new FormData();
    form.append('a', new Blob([GOOD], { type: 'application/json' }));
    const { bytes: ours, type } = await written(form);
    expect(post(ours, type)).toEqual([]);
    expect(post(sent.JSON)).toEqual([]);
    expect(post(sent['a file of JSON'])).toContain('/a/url is required');
  });

  test('a part has only the types that it names', () => {
    const images = of({ anyOf: [bytes, link] }, { contentType: 'image/*' });
    expect(images(body(file('a', 'abc', 'image/png')))).toEqual([]);
    expect(images(sent.JSON)).toEqual(['/a must be of type image/*']);
  });
});

test('a check of headers between parts does not make files of texts', () => {
  const schema = { oneOf: [bytes, { type: 'string' }] };
  const post = formChecker(
    { type: 'object', properties: { a: schema, b: { type: 'string' } } },
    { b: { headers: { 'X-Size': { schema: { type: 'integer' } } } } },
  );
  const b = part('Content-Disposition: form-data; name="b"\nX-Size: 1', 'x');
  expect(post(body(field('a', 'x'), b))).toEqual([]);
});

test('a file is not an object, whatever objects may be', () => {
  const any = { type: 'object' };
  expect(of({ oneOf: [bytes, any] })(sent.file)).toEqual([]);
  expect(of({ anyOf: [bytes, any] })(sent['a long file'])).toEqual(long('/a must be an object'));
  expect(of({ anyOf: [bytes, { ...any, nullable: true }] })(sent['a long file'])).toEqual(
    long('/a must be an object or null'),
  );
});

describe('in OpenAPI 3.1', () => {
  const image = { type: 'string', contentMediaType: 'image/png', maxLength: 8 };

  test('a file or an object is what the part says', () => {
    const post = of(
      { anyOf: [image, { $ref: '#/components/schemas/Link', description: 'x' }] },
      {},
      '3.1.0',
    );
    expect([sent.file, sent.JSON, sent['JSON of no type']].map((form) => post(form))).toEqual([
      [],
      [],
      [],
    ]);
    expect(post(sent['a long file'])).toEqual(long('/a must be an object'));
  });

  test('a file or null is a file', () => {
    const post = of({ anyOf: [image, { type: 'null' }] }, {}, '3.1.0');
    expect(post(sent.file)).toEqual([]);
    expect(post(sent.word)).toEqual(needsName);
  });
});
