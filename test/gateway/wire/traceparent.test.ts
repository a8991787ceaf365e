import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createFieldNames } from '../../../src/gateway/wire/fields.ts';
import { readHead } from '../../../src/gateway/wire/head.ts';

const GOOD = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const names = createFieldNames({ strip: [] });
const traceIn = (...fields: string[]) => {
  const { traceparent, tracestate, forwardable } = readHead(fields, names);
  return { traceparent, tracestate, forwardable };
};
const traceparentIn = (...fields: string[]) => traceIn(...fields).traceparent;

test('a traceparent is accepted in the form of W3C Trace Context, and forwarded', () => {
  expect(traceIn('Traceparent', GOOD)).toMatchObject({
    traceparent: GOOD,
    forwardable: ['Traceparent', GOOD],
  });
  expect(traceparentIn()).toBeUndefined();
});

test('the common part of a later version is used, and the whole value is forwarded', () => {
  const later = GOOD.replace('00-', 'cc-');
  expect(traceparentIn('TRACEPARENT', later)).toBe(later);
  expect(traceIn('traceparent', `${later}-more`)).toMatchObject({
    traceparent: later,
    forwardable: ['traceparent', `${later}-more`],
  });
});

test.each([
  ['empty', ''],
  ['of the invalid version', GOOD.replace('00-', 'ff-')],
  ['in capitals', GOOD.toUpperCase()],
  ['without a trace', `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`],
  ['without a parent', `00-4bf92f3577b34da6a3ce929d0e0e4736-${'0'.repeat(16)}-01`],
  ['with something behind it', `${GOOD}-secret`],
  ['of a later version with an invalid suffix', `${GOOD.replace('00-', 'cc-')}secret`],
])('%s is ignored, and neither it nor its tracestate is forwarded', (_what, value) => {
  expect(traceIn('A', 'b', 'traceparent', value, 'tracestate', 'a=b')).toEqual({
    traceparent: undefined,
    tracestate: undefined,
    forwardable: ['A', 'b'],
  });
});

test('several are ignored, whichever is valid', () => {
  expect(traceIn('traceparent', GOOD, 'traceparent', GOOD)).toMatchObject({
    traceparent: undefined,
    forwardable: [],
  });
  expect(
    traceparentIn('traceparent', GOOD, 'traceparent', 'x', 'traceparent', GOOD),
  ).toBeUndefined();
});

describe('a tracestate', () => {
  const stateIn = (...values: string[]) =>
    traceIn('traceparent', GOOD, ...values.flatMap((value) => ['tracestate', value])).tracestate;

  test.each([
    ['one member', 'congo=t61rcWkgMzE'],
    ['a tenant and its system', 'fw529a3039@dt=FfffffFF'],
    ['members without anything', 'a=1,, ,b=2'],
    ['32 members', Array.from({ length: 32 }, (_, i) => `k${i}=v`).join(',')],
    ['the longest key and value', `${'k'.repeat(256)}=${'v'.repeat(256)}`],
    ['all characters that a value may have', 'a= !"#$%&\'()*+-./:;<>?@[\\]^_`{|}~'],
  ])('is accepted with %s, and forwarded', (_what, value) => {
    expect(stateIn(value)).toBe(value);
    expect(traceIn('traceparent', GOOD, 'tracestate', value).forwardable).toContain(value);
  });

  test('may be split into several lines', () => {
    expect(stateIn('a=1', 'b=2')).toBe('a=1, b=2');
  });

  test.each([
    ['nothing', ''],
    ['no value', 'a='],
    ['a second equals sign', 'a=b=c'],
    ['a key in capitals', 'A=1'],
    ['a key that begins with a sign', '_a=1'],
    ['a key that is too long', `${'k'.repeat(257)}=v`],
    ['a value that is too long', `k=${'v'.repeat(257)}`],
    ['a key twice', 'a=1,b=2,a=3'],
    ['33 members', Array.from({ length: 33 }, (_, i) => `k${i}=v`).join(',')],
    ['one wrong member behind many empty ones', `a=1${','.repeat(500)}B=2`],
  ])('with %s is ignored and dropped, and the traceparent is forwarded', (_what, value) => {
    expect(traceIn('traceparent', GOOD, 'tracestate', value)).toEqual({
      traceparent: GOOD,
      tracestate: undefined,
      forwardable: ['traceparent', GOOD],
    });
  });

  test('without a traceparent is dropped', () => {
    expect(traceIn('tracestate', 'a=1')).toEqual({
      traceparent: undefined,
      tracestate: undefined,
      forwardable: [],
    });
  });
});

test('forwarded headers are well-formed, whatever a client sends', () => {
  const piece = fc.oneof(
    fc.constantFrom(GOOD, 'a=1', ',', '=', '-', '00', 'ff', ' '),
    fc.string({ maxLength: 4 }),
  );
  const value = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(''));
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom('traceparent', 'tracestate'), value), { maxLength: 4 }),
      (fields) => {
        const { traceparent, tracestate, forwardable } = traceIn(...fields.flat());
        const sent = (name: string) =>
          forwardable.filter((_, i) => i % 2 === 1 && forwardable[i - 1] === name);
        expect(sent('traceparent')).toHaveLength(traceparent === undefined ? 0 : 1);
        if (tracestate === undefined) expect(sent('tracestate')).toEqual([]);
        else expect(sent('tracestate').join(', ')).toBe(tracestate);
        if (traceparent === undefined) expect(tracestate).toBeUndefined();
      },
    ),
  );
});
