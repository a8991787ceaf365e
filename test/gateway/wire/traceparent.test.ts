import { expect, test } from '@jest/globals';
import { FieldNames } from '../../../src/gateway/wire/fields.ts';
import { readHead } from '../../../src/gateway/wire/head.ts';

const GOOD = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const names = new FieldNames([]);
const traceparentIn = (...fields: string[]) => readHead(fields, names).traceparent;

test('a traceparent is taken in the form that W3C Trace Context gives it', () => {
  expect(traceparentIn('Traceparent', GOOD)).toBe(GOOD);
  expect(traceparentIn('TRACEPARENT', GOOD.replace('00-', 'cc-'))).toHaveLength(55);
  expect(traceparentIn()).toBeUndefined();
});

test.each([
  ['empty', ''],
  ['of the version that is none', GOOD.replace('00-', 'ff-')],
  ['in capitals', GOOD.toUpperCase()],
  ['without a trace', `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`],
  ['without a parent', `00-4bf92f3577b34da6a3ce929d0e0e4736-${'0'.repeat(16)}-01`],
  ['with something behind it', `${GOOD}-secret`],
  ['with something before it', ` ${GOOD}`],
])('one %s is as none', (_what, value) => {
  expect(traceparentIn('traceparent', value)).toBeUndefined();
});

test('more than one is none, whichever is good', () => {
  expect(traceparentIn('traceparent', GOOD, 'traceparent', GOOD)).toBeUndefined();
  expect(traceparentIn('traceparent', GOOD, 'traceparent', 'x', 'traceparent', GOOD)).toBeUndefined();
});
