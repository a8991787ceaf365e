import { expect, test } from '@jest/globals';
import { FieldLines } from '@storegate/http1';
import { returnedHeaders } from '../../../src/gateway/upstream/headers.ts';

const LIST = ['Content-Type', 'text/plain', 'Content-Length', '2', 'Date', 'now', 'X-RateLimit-Limit', '9'];

function linesOf(list: readonly string[]): Pick<FieldLines, 'text' | 'dated' | 'sized' | 'length'> {
  const lines = new FieldLines();
  lines.addRead(list);
  const { text, dated, sized, length } = lines;
  return { text, dated, sized, length };
}

test('repeated fields of a response are returned as the same list and the same text', () => {
  const fields = { list: LIST, meaning: null };
  const first = returnedHeaders(fields, 200);
  const text = linesOf(first);
  expect(text).toMatchObject({ dated: true, sized: true, length: 2 });
  expect(text.text).not.toContain('x-ratelimit-limit');
  for (let i = 0; i < 3; i++) {
    expect(returnedHeaders(fields, 200)).toBe(first);
    expect(linesOf(first)).toEqual(text);
  }
});

test('repeated fields with another status are read again: 204 has no length', () => {
  const fields = { list: LIST, meaning: null };
  for (const [status, sized] of [
    [200, true],
    [204, false],
    [200, true],
    [204, false],
    [204, false],
  ] as const)
    expect(linesOf(returnedHeaders(fields, status)).sized).toBe(sized);
});
