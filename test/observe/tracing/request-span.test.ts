import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  type BeginSpan,
  createBegin,
  createSamples,
  newSpanId,
  newTraceId,
  traceparentAt,
} from '../../../src/observe/tracing/request-span.ts';
import { loadSdk } from '../../../src/observe/tracing/sdk.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const CALLER = '00f067aa0ba902b7';
const sdk = await loadSdk();

const callers = (flags: string, tracestate?: string) => ({
  traceparent: `00-${TRACE}-${CALLER}-${flags}`,
  tracestate,
});

describe('ids', () => {
  test('have the form of W3C Trace Context, and none is repeated', () => {
    const traces = Array.from({ length: 5_000 }, () => newTraceId());
    const spans = Array.from({ length: 5_000 }, () => newSpanId());
    for (const id of traces) expect(id).toMatch(/^(?!0{32})[0-9a-f]{32}$/);
    for (const id of spans) expect(id).toMatch(/^(?!0{16})[0-9a-f]{16}$/);
    expect(new Set([...traces, ...spans]).size).toBe(10_000);
  });
});

describe('the span of a request', () => {
  const begin = createBegin('any', (_traceId, parent) => parent ?? true);

  test.each([
    ['00', '00', false],
    ['01', '01', true],
    ['02', '02', false],
    ['03', '03', true],
    ['ff', '03', true],
    ['fe', '02', false],
  ])(
    'of a client with the flags %s has %s: sampled, random id, and no unknown bit',
    (given, sent, kept) => {
      const span = begin(callers(given), false, 0);
      expect(span).toMatchObject({
        traceId: TRACE,
        parentId: CALLER,
        sampled: kept,
        flags: sent,
        attempts: [],
      });
      expect(span.id).not.toBe(CALLER);
      expect(traceparentAt(span, span.id)).toBe(`00-${TRACE}-${span.id}-${sent}`);
    },
  );

  test('of a client of a later version is continued in our version', () => {
    const span = begin(
      { traceparent: `cc-${TRACE}-${CALLER}-01`, tracestate: undefined },
      false,
      0,
    );
    expect(traceparentAt(span, span.id)).toMatch(/^00-/);
  });

  test('begins a trace with a random id without a parent', () => {
    expect(begin({ traceparent: undefined, tracestate: undefined }, false, 0)).toMatchObject({
      parentId: null,
      flags: '03',
      state: null,
    });
  });

  test.each([
    ['any', false, true],
    ['proxies', false, false],
    ['proxies', true, true],
    ['none', true, false],
  ] as const)(
    'with parents %s, behind a trusted proxy %s, continues a trace: %s',
    (parents, isTrusted, continues) => {
      const span = createBegin(parents, () => true)(callers('01', 'a=1'), isTrusted, 0);
      expect([span.traceId === TRACE, span.parentId === CALLER, span.state === 'a=1']).toEqual([
        continues,
        continues,
        continues,
      ]);
    },
  );

  const stateOf = (begin: BeginSpan, state: string) => begin(callers('01', state), false, 0).state;

  test('keeps a tracestate of 512 characters whole; a longer one loses large members first, then the last', () => {
    const member = (key: string, length: number) => `${key}=${'v'.repeat(length - key.length - 1)}`;
    const whole = [member('a', 255), member('b', 256)].join(',');
    expect(whole).toHaveLength(512);
    expect(stateOf(begin, whole)).toBe(whole);
    const small = Array.from({ length: 5 }, (_, i) => member(`k${i}`, 100));
    expect(stateOf(begin, [...small, member('large', 129)].join(','))).toBe(small.join(','));
    expect(stateOf(begin, [member('large', 129), ...small].join(','))).toBe(small.join(','));
    const six = [...small, member('k5', 100)];
    expect(stateOf(begin, six.join(','))).toBe(small.join(','));
  });

  test('never forwards a longer tracestate, and never a part of a member', () => {
    const member = fc.tuple(fc.nat({ max: 99 }), fc.integer({ min: 1, max: 200 }));
    fc.assert(
      fc.property(fc.array(member, { minLength: 1, maxLength: 32 }), (members) => {
        const list = members.map(([key, length], i) => `k${key}x${i}=${'v'.repeat(length)}`);
        const state = stateOf(begin, list.join(','))!;
        expect(state.length).toBeLessThanOrEqual(512);
        if (state !== '') expect(list).toEqual(expect.arrayContaining(state.split(',')));
      }),
    );
  });
});

describe('a sampler', () => {
  const random = Array.from({ length: 20_000 }, () => newTraceId());
  const share = (
    sampler: Parameters<typeof createSamples>[1]['sampler'],
    ratio: number,
    parent: boolean | null,
  ) => {
    const samples = createSamples(sdk, { sampler, ratio });
    return random.filter((id) => samples(id, parent)).length / random.length;
  };

  test.each([
    ['always_on', 0, [1, 1, 1]],
    ['always_off', 1, [0, 0, 0]],
    ['traceidratio', 0.25, [0.25, 0.25, 0.25]],
    ['parentbased_always_on', 0, [1, 1, 0]],
    ['parentbased_always_off', 1, [0, 1, 0]],
    ['parentbased_traceidratio', 0.25, [0.25, 1, 0]],
    ['parentbased_traceidratio', 0, [0, 1, 0]],
    ['parentbased_traceidratio', 1, [1, 1, 0]],
  ] as const)(
    '%s with %d samples these shares without a parent, with a sampled one, and with an unsampled one',
    (sampler, ratio, expected) => {
      const shares = [null, true, false].map((parent) => share(sampler, ratio, parent));
      for (const [i, one] of expected.entries()) expect(shares[i]).toBeCloseTo(one, 1);
      if (ratio === 0 || ratio === 1) expect(shares).toEqual(expected);
    },
  );
});
