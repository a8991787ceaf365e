import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ConfigError } from '../../src/config/problems/problems.ts';
import { parseWindows } from '../../src/config/windows.ts';
import { readWindows } from '../../src/limits/notation.ts';

const per = fc.oneof(
  fc.constantFrom('minute@notes', 'day@files', 'day@Files', 'day@'),
  fc.constantFrom('minute', 'hour', 'day', '90s'),
  fc.constantFrom(
    'second',
    'minute',
    'hour',
    'day',
    '1s',
    '60s',
    '999ms',
    '1000ms',
    '366d',
    '367d',
    '0s',
    'week',
    '01s',
    'toString',
    '',
  ),
  fc.nat(400).map((n) => `${n}d`),
);
const limit = fc.oneof(
  { weight: 6, arbitrary: fc.nat(100) },
  fc.constantFrom(1e12, 1e12 + 1, -1, 1.5, '5', null, undefined),
);
const kind = fc.constantFrom(
  undefined,
  undefined,
  'fixed',
  'sliding',
  'fixed',
  'sliding',
  'leaky',
  null,
);
const entry = fc.oneof(
  {
    weight: 9,
    arbitrary: fc
      .record({ limit, per, kind })
      .map(({ kind, ...rest }) => (kind === undefined ? rest : { ...rest, kind })),
  },
  fc.constantFrom(null, 5, 'x', [], { limit: 5, per: 'day', more: 1 }),
);
const short = fc
  .array(fc.tuple(limit, per, kind), { minLength: 1, maxLength: 5 })
  .map((parts) =>
    parts.map(([l, p, k]) => `${l}/${p}${k === undefined ? '' : `:${k}`}`).join(', '),
  );
const many = fc
  .integer({ min: 15, max: 18 })
  .map((count) => Array.from({ length: count }, (_, i) => `5/minute@api-${i}`).join());
const value = fc.oneof(
  fc.array(entry, { maxLength: 5 }),
  short,
  many,
  fc.constantFrom(null, 5, {}, '', ','),
);

test('a contract takes the windows that plans take, and no others', () => {
  const met = { good: 0, bad: 0 };
  fc.assert(
    fc.property(value, (written) => {
      const read = readWindows(written);
      let expected: unknown = 'refused';
      try {
        expected = parseWindows(written);
        met.good++;
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error;
        met.bad++;
      }
      if (typeof read === 'string') expect(expected).toBe('refused');
      else expect(read).toEqual(expected);
    }),
    { numRuns: 2_000 },
  );
  expect(Math.min(met.good, met.bad) / (met.good + met.bad)).toBeGreaterThan(0.025);
});
