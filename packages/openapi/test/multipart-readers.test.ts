import { expect, test } from '@jest/globals';
import busboy from 'busboy';
import fc from 'fast-check';
import { Response } from 'undici';
import { readParts } from '../src/media/multipart/parts.ts';
import { BOUNDARY, formChecker } from './forms.ts';

/** Bytes as latin1. */
type Seen = readonly [name: string, filename: string | null, content: string];

const TYPE = `multipart/form-data; boundary=${BOUNDARY}`;

const faults = formChecker({ type: 'object', additionalProperties: { type: 'array', items: {} } });

function ours(bytes: Buffer): Seen[] {
  return readParts(bytes, BOUNDARY).map(({ head, content }) => [
    head.name,
    head.filename,
    content.toString('latin1'),
  ]);
}

function busboys(bytes: Buffer): Promise<Seen[]> {
  return new Promise((resolve, reject) => {
    const seen: Seen[] = [];
    const reader = busboy({ headers: { 'content-type': TYPE }, defParamCharset: 'utf8' });
    reader.on('field', (name: string | undefined, value) =>
      seen.push([name ?? '', null, Buffer.from(value).toString('latin1')]),
    );
    reader.on('file', (name: string | undefined, stream, info: { filename?: string }) => {
      const filename = info.filename ?? '';
      const index = seen.push([name ?? '', filename, '']) - 1;
      const chunks: Buffer[] = [];
      stream.on('data', (chunk) => chunks.push(chunk));
      stream.on('end', () => {
        seen[index] = [name ?? '', filename, Buffer.concat(chunks).toString('latin1')];
      });
      stream.on('error', reject);
    });
    reader.on('error', reject);
    reader.on('close', () => resolve(seen));
    reader.end(bytes);
  });
}

async function undicis(bytes: Buffer): Promise<Seen[]> {
  const form = await new Response(new Uint8Array(bytes), {
    headers: { 'content-type': TYPE },
  }).formData();
  return Promise.all(
    [...form].map(async ([name, value]): Promise<Seen> => {
      if (typeof value === 'string') return [name, null, Buffer.from(value).toString('latin1')];
      return [name, value.name, Buffer.from(await value.arrayBuffer()).toString('latin1')];
    }),
  );
}

/** A file that was not chosen, without a type, is an empty text to busboy. */
const withoutEmptyFile = ([name, filename, content]: Seen): Seen => [
  name,
  filename === '' && content === '' ? null : filename,
  content,
];

/** Mostly valid, and sometimes what readers differ in. */
const usually = <T>(good: readonly T[], odd: readonly T[]) =>
  fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom(...good) },
    { weight: 1, arbitrary: fc.constantFrom(...odd) },
  );

const name = usually(
  ['a', 'b', 'ü', 'a[b]', '__proto__', ' a', 'a;b', 'a:b', "a'b", 'a, b'],
  ['', 'a\\"b', 'a%22b', 'a\tb', 'a\0b', '=?utf-8?Q?z?=', `--${BOUNDARY}`, '"'],
);
const filename = usually(
  ['f', 'f.png', 'ü ü.txt', '', 'a;b', "f'g", 'f:g'],
  ['a/b', 'C:\\f', '..', 'a%0ab', 'a"; name="z', '.'],
);
const quoted = (key: string) => (value: string) => `${key}="${value}"`;
const disposition = fc
  .tuple(
    usually(['form-data', 'Form-Data'], ['attachment', 'form-data ', '"form-data"']),
    usually(['; ', ';', ';  '], [' ; ', ';\t', ';\r\n ', ';;']),
    name.map(quoted('name')),
    fc.option(
      fc.oneof(
        { weight: 9, arbitrary: filename.map(quoted('filename')) },
        fc.constantFrom(
          "filename=f; filename*=utf-8''f",
          "filename*=utf-8''g",
          'filename=f',
          'name=z',
          'x=y',
        ),
      ),
    ),
  )
  .map(([type, separator, first, second]) =>
    [type, first, ...(second === null ? [] : [second])].join(separator),
  );
const header = fc.oneof(
  {
    weight: 4,
    arbitrary: usually(
      [
        'Content-Type: text/plain',
        'content-type: text/plain;charset=UTF-8',
        'Content-Type: application/json',
        'Content-Type: image/png',
        'X-Other: 1',
      ],
      [
        'Content-Type: text/plain; charset=utf-16le',
        'Content-Type: multipart/mixed; boundary=c',
        'Content-Type:',
        'Content-Type: x',
        'Content-Disposition: form-data; name="z"',
        ' folded',
        'Content-Type : text/plain',
        'X: 1\n',
        '',
      ],
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      'Content-Transfer-Encoding: base64',
      'Content-Transfer-Encoding: 8bit',
      'Content-Length: 1',
      'Content-Length: 3',
      'Content-Encoding: gzip',
    ),
  },
);
const content = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  usually(
    ['1', '"x"', '', '\r\n', '\r\n\r\n', '\n', '--', '\r\n--', `\r\n-${BOUNDARY}`, '\ufeff'],
    [
      `\r\n--${BOUNDARY}`,
      `\n--${BOUNDARY}\r\n`,
      `--${BOUNDARY}--`,
      `\r\n--${BOUNDARY}X`,
      `\r\n--${BOUNDARY}--\r\n`,
    ],
  ),
);
const part = fc
  .tuple(disposition, fc.array(header, { maxLength: 2 }), fc.boolean(), content)
  .map(([first, others, before, text]) => {
    const line = `Content-Disposition: ${first}`;
    return `${(before ? [...others, line] : [line, ...others]).join('\r\n')}\r\n\r\n${text}`;
  });
const form = fc
  .tuple(
    usually([''], ['\r\n', 'preamble\r\n', '\n', ' ']),
    fc.array(part, { maxLength: 4 }),
    usually(['\r\n'], ['\n', '\r', ' \r\n', '\t\r\n']),
    usually(['', '\r\n'], ['epilogue', '\n', '\r\n\r\n', ' ', 'x', `\r\n--${BOUNDARY}\r\n`]),
  )
  .map(
    ([start, parts, end, rest]) =>
      `${start}${parts.map((one) => `--${BOUNDARY}${end}${one}\r\n`).join('')}--${BOUNDARY}--${rest}`,
  );

/** With up to two bytes changed. */
const sent = fc
  .tuple(
    form,
    fc.array(fc.tuple(fc.nat(), fc.constantFrom(...'\0\t\n\r "%*-/;=\\abX\xff')), { maxLength: 2 }),
    fc.integer({ min: 0, max: 3 }),
  )
  .map(([text, changes, spared]) => {
    const bytes = Buffer.from(text);
    if (spared === 0)
      for (const [at, character] of changes) bytes[at % bytes.length] = character.charCodeAt(0);
    return bytes;
  });

test('what the gateway takes, busboy reads as the gateway does, and Node reads so or refuses', async () => {
  let taken = 0;
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(sent, async (bytes) => {
      if (faults(bytes).length > 0) {
        refused++;
        return;
      }
      taken++;
      const expected = ours(bytes).map(withoutEmptyFile);
      expect((await busboys(bytes)).map(withoutEmptyFile)).toEqual(expected);
      const node = await undicis(bytes).catch((error) => error);
      if (!(node instanceof Error)) expect(node.map(withoutEmptyFile)).toEqual(expected);
    }),
    { numRuns: 4000 },
  );
  expect(Math.min(taken, refused) / (taken + refused)).toBeGreaterThan(0.125);
});
