import { expect, test } from '@jest/globals';
import { FieldLines } from '@storegate/http1';
import { returnedHeaders } from '../../../src/gateway/upstream/headers.ts';
import { createReturnedNames } from '../../../src/gateway/wire/fields.ts';
import { returnedNames, via } from '../../support/exchange.ts';

const LIST = [
  'Content-Type',
  'text/plain',
  'Content-Length',
  '2',
  'Date',
  'now',
  'X-RateLimit-Limit',
  '9',
];

function linesOf(list: readonly string[]): Pick<FieldLines, 'text' | 'dated' | 'sized' | 'length'> {
  const lines = new FieldLines();
  lines.addRead(list);
  const { text, dated, sized, length } = lines;
  return { text, dated, sized, length };
}

test('repeated fields of a response are returned as the same list and the same text', () => {
  const fields = { list: LIST, meaning: null };
  const first = returnedHeaders(fields, 200, returnedNames);
  const text = linesOf(first);
  expect(text).toMatchObject({ dated: true, sized: true, length: 2 });
  expect(text.text).not.toContain('x-ratelimit-limit');
  for (let i = 0; i < 3; i++) {
    expect(returnedHeaders(fields, 200, returnedNames)).toBe(first);
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
    expect(linesOf(returnedHeaders(fields, status, returnedNames)).sized).toBe(sized);
});

test('repeated fields are read again after a reload that turned CORS off: the CORS fields are the backend’s', () => {
  const fields = { list: ['Access-Control-Allow-Origin', '*', ...LIST], meaning: null };
  const ofBackend = createReturnedNames({ cors: true, via });
  for (const [names, isReturned] of [
    [returnedNames, false],
    [ofBackend, true],
    [returnedNames, false],
  ] as const) {
    const list = returnedHeaders(fields, 200, names);
    expect(list.includes('access-control-allow-origin')).toBe(isReturned);
    expect(list).not.toContain('x-ratelimit-limit');
  }
});
