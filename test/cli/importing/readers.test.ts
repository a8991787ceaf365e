import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { CommandError } from '../../../src/cli/connect/api.ts';
import { csvRows } from '../../../src/cli/importing/csv.ts';
import { ndjsonRows } from '../../../src/cli/importing/ndjson.ts';
import { linesOf, type Read, type Source } from '../../../src/cli/importing/rows.ts';

function source(text: string | Uint8Array, size = 7): Source {
  const bytes = Buffer.from(text as string);
  return async function* parts() {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  };
}

async function all<T>(rows: AsyncIterable<T>): Promise<T[]> {
  const read: T[] = [];
  for await (const row of rows) read.push(row);
  return read;
}

const csv = (text: string, size?: number) => all(csvRows(source(text, size)));
const ndjson = (text: string, size?: number) => all(ndjsonRows(source(text, size)));
const SECRET = 'do-not-show-anybody';

describe('CSV', () => {
  test('reads columns in any order, quoted cells, LF and CRLF, blank lines and a byte order mark', async () => {
    const text =
      '\ufeffplan,"label",key\r\nfree,"a ""b"", c\r\nd",one\r\n\r\npro,,two\nfree,x,three';
    expect(await csv(text)).toEqual([
      { at: 'line 2', fields: { plan: 'free', label: 'a "b", c\r\nd', key: 'one' } },
      { at: 'line 5', fields: { plan: 'pro', key: 'two' } },
      { at: 'line 6', fields: { plan: 'free', label: 'x', key: 'three' } },
    ]);
  });

  test('reads lists, booleans and metadata in cells', async () => {
    const text =
      'key,addresses,scopes,disabled,metadata.team,metadata.__proto__\na,"10.0.0.0/8, ::1;::2  ::3","a:b, c;d  e",TRUE,pets,x\nb,,,false,,\nc,,,perhaps,,\n';
    const fields = (await csv(text)).map((row) => ('fields' in row ? row.fields : row));
    expect(fields).toEqual([
      {
        key: 'a',
        addresses: ['10.0.0.0/8', '::1', '::2', '::3'],
        scopes: ['a:b', 'c', 'd', 'e'],
        disabled: true,
        metadata: JSON.parse('{"team":"pets","__proto__":"x"}'),
      },
      { key: 'b', disabled: false },
      { key: 'c', disabled: 'perhaps' },
    ]);
    expect(await csv('key,metadata\na,"{""team"":""pets""}"\nb,{\n')).toMatchObject([
      { fields: { metadata: { team: 'pets' } } },
      { fields: { metadata: '{' } },
    ]);
  });

  test.each([
    ['a row with a cell too many', `key\n${SECRET},b\nc\n`, 'line 2', 'has 2 cells', 1],
    ['a row with a cell too few', `key,plan\n${SECRET}\nc,d\n`, 'line 2', 'has 1 cells', 1],
    [
      'metadata in two forms',
      `metadata,metadata.a\n{},${SECRET}\n,d\n`,
      'line 2',
      'cannot be combined',
      1,
    ],
    ['no first line', `${SECRET},free\n`, 'line 1', 'column 1 is not one of', 0],
    ['an unknown column', `key,${SECRET}\na,b\n`, 'line 1', 'column 2 is not one of', 0],
    ['a column without a name', 'key,\na,b\n', 'line 1', 'column 2 is not one of', 0],
    ['a column twice', 'key,plan,key\na,b,c\n', 'line 1', 'column 3 appears twice', 0],
    ['a quote inside a cell', `key\na\nx"${SECRET}\nb\n`, 'line 3', 'a cell contains a quote', 1],
    [
      'text behind a quoted cell',
      `key\n\n"a"${SECRET}\nb\n`,
      'line 3',
      'a cell contains a quote',
      0,
    ],
    ['a quote that does not end', `key\na\n"${SECRET}\nb\n`, 'line 3', 'is not closed', 1],
    [
      'a record without an end',
      `key\na\n${SECRET}${'x'.repeat(300_000)}`,
      'line 3',
      'longer than 262144',
      1,
    ],
  ])('with %s reports the line without its text', async (_what, text, at, message, good) => {
    const rows = await csv(text, 65_536);
    const [refused, ...more] = rows.filter((row) => 'message' in row);
    expect(refused).toMatchObject({ at, message: expect.stringContaining(message) });
    expect(more).toEqual([]);
    expect(rows.filter((row) => 'fields' in row)).toHaveLength(good);
    expect(JSON.stringify(rows.filter((row) => 'message' in row))).not.toContain(SECRET);
  });

  test('is read the same in any chunks', async () => {
    const cell = fc
      .string({ unit: 'grapheme', maxLength: 12 })
      .filter((text) => !text.includes('\r'));
    const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
    const plain = (text: string) => (/[",\n\ufeff]/.test(text) ? quoted(text) : text);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(cell, cell, fc.boolean()), { maxLength: 8 }),
        fc.integer({ min: 1, max: 30 }),
        fc.constantFrom('\n', '\r\n'),
        async (records, size, end) => {
          const written = records.map(([a, b, always]) =>
            [a, b].map(always ? quoted : plain).join(','),
          );
          const rows = await csv(`${['key,label', ...written].join(end)}${end}`, size);
          let line = 2;
          const expected: Read[] = [];
          for (const [i, [key, label]] of records.entries()) {
            const fields = Object.fromEntries(
              Object.entries({ key, label }).filter(([, text]) => text !== ''),
            );
            expected.push({ at: `line ${line}`, fields });
            line += written[i]!.split('\n').length;
          }
          expect(rows).toEqual(expected);
        },
      ),
    );
  });
});

describe('NDJSON', () => {
  test('reads one object per line without blank lines', async () => {
    expect(
      await ndjson('\ufeff{"key":"a","disabled":true}\r\n\n  \n{"key":"b","addresses":["::1"]}'),
    ).toEqual([
      { at: 'line 1', fields: { key: 'a', disabled: true } },
      { at: 'line 4', fields: { key: 'b', addresses: ['::1'] } },
    ]);
  });

  test.each([
    ['no JSON', `{"key":"${SECRET}"`, 'is not a JSON object'],
    ['a list', `["${SECRET}"]`, 'is not a JSON object'],
    ['null', 'null', 'is not a JSON object'],
    ['an unknown field', `{"key":"a","${SECRET}":1}`, 'has an unknown field'],
    ['too much', `{"key":"${SECRET}${'x'.repeat(300_000)}"}`, 'is longer than 262144'],
  ])('with a line that is %s reports it and continues', async (_what, line, message) => {
    const rows = await ndjson(`{"key":"a"}\n${line}\n{"key":"b"}\n`, 65_536);
    expect(rows).toEqual([
      { at: 'line 1', fields: { key: 'a' } },
      { at: 'line 2', field: null, message: expect.stringContaining(message) },
      { at: 'line 3', fields: { key: 'b' } },
    ]);
    expect(JSON.stringify(rows)).not.toContain(SECRET);
  });

  test('is read the same in any chunks', async () => {
    const fields = fc.record({ key: fc.string({ unit: 'grapheme' }), label: fc.string() });
    await fc.assert(
      fc.asyncProperty(fc.array(fields), fc.integer({ min: 1, max: 30 }), async (objects, size) => {
        const rows = await ndjson(objects.map((one) => JSON.stringify(one)).join('\n'), size);
        expect(rows).toEqual(objects.map((one, i) => ({ at: `line ${i + 1}`, fields: one })));
      }),
    );
  });
});

test('readers end on any file, number every row, and repeat no text of it', async () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(fc.constantFrom('"', ',', '\r', '\n', 'key', 'plan', '{', '}', 'SECRET', ':', ' '), {
      maxLength: 40,
    }),
  );
  await fc.assert(
    fc.asyncProperty(text, fc.constantFrom(csv, ndjson), async (parts, read) => {
      for (const row of await read(typeof parts === 'string' ? parts : parts.join(''))) {
        expect(row.at).toMatch(/^line [1-9]\d*$/);
        if ('message' in row) expect(row.message).not.toContain('SECRET');
      }
    }),
  );
});

test.each([
  ['CSV', csvRows],
  ['NDJSON', ndjsonRows],
])('%s other than UTF-8 is refused', async (_format, rows) => {
  const bytes = Buffer.concat([Buffer.from('key\n'), Buffer.from([0xc3, 0x28, 0x0a])]);
  await expect(all(rows(source(bytes)))).rejects.toThrow(CommandError);
});

test('throws errors of the source', async () => {
  const broken: Source = async function* () {
    yield Buffer.from('key\na\n');
    throw new Error('the disk is gone');
  };
  await expect(all(csvRows(broken))).rejects.toThrow('the disk is gone');
  await expect(all(ndjsonRows(broken))).rejects.toThrow('the disk is gone');
});

test('keeps at most the longest line in memory', async () => {
  expect(await all(linesOf(source('ab\nabcd\nabc\n'), 3))).toEqual([
    { number: 1, text: 'ab' },
    { number: 2, text: null },
    { number: 3, text: 'abc' },
  ]);
});
