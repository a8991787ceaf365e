import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { CommandError } from '../../../src/cli/connect/api.ts';
import { rowsIn } from '../../../src/cli/importing/rows.ts';

const rows = (text: string) => [...rowsIn(Buffer.from(text))];
const SECRET = 'do-not-show-anybody';

test('reads one object per line, without blank lines and a byte order mark', () => {
  expect(
    rows('\ufeff{"key":"a","disabled":true}\r\n\n  \n{"key":"b","addresses":["::1"]}'),
  ).toEqual([
    { line: 1, fields: { key: 'a', disabled: true } },
    { line: 4, fields: { key: 'b', addresses: ['::1'] } },
  ]);
});

test.each([
  ['no JSON', `{"key":"${SECRET}"`, 'is not a JSON object'],
  ['a list', `["${SECRET}"]`, 'is not a JSON object'],
  ['null', 'null', 'is not a JSON object'],
  ['an unknown field', `{"key":"a","${SECRET}":1}`, 'has an unknown field'],
])('a line that is %s is reported without its text', (_what, line, message) => {
  const read = rows(`{"key":"a"}\n${line}\n{"key":"b"}\n`);
  expect(read).toEqual([
    { line: 1, fields: { key: 'a' } },
    { line: 2, field: null, message: expect.stringContaining(message) },
    { line: 3, fields: { key: 'b' } },
  ]);
  expect(JSON.stringify(read)).not.toContain(SECRET);
});

test('any text is read to its end, and no message repeats it', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc
      .array(fc.constantFrom('"', ',', '\r', '\n', 'key', 'plan', '{', '}', 'SECRET', ':', ' '), {
        maxLength: 40,
      })
      .map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(text, (file) => {
      const read = rows(file);
      const lines = Buffer.from(file)
        .toString()
        .replace(/^\ufeff/, '')
        .split('\n');
      expect(read).toHaveLength(lines.filter((line) => line.trim() !== '').length);
      for (const row of read) if ('message' in row) expect(row.message).not.toContain('SECRET');
    }),
  );
});

test('a file other than UTF-8 is refused', () => {
  expect(() => [...rowsIn(Buffer.from([0x7b, 0x7d, 0x0a, 0xc3, 0x28]))]).toThrow(CommandError);
});
