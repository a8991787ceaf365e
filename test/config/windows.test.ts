import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { formatDuration } from '../../src/config/units.ts';
import { formatWindows, parseWindows } from '../../src/config/windows.ts';
import { KIND_NAMES } from '../../src/limits/kinds.ts';
import { mistakesOf } from './mistakes.ts';

const minute = { name: 'minute', kind: 'fixed', limit: 60, span: 60_000 };
const MONTH = 31 * 86_400_000;
const day = { name: 'day', kind: 'fixed', limit: 1000, span: 86_400_000 };

describe('own limits', () => {
  test.each([
    ['60/minute,1000/day', [minute, day]],
    ['1000/day,60/minute', [minute, day]],
    ['10/10s:sliding', [{ name: '10s', kind: 'sliding', limit: 10, span: 10_000 }]],
    ['9/day+watch', [{ ...day, limit: 9, excess: 'watch' }]],
    [
      '60/minute,60/minute@notes,60/minute@files',
      [minute, { ...minute, scope: '@notes' }, { ...minute, scope: '@files' }],
    ],
    [
      '9/day@notes:sliding+watch',
      [{ ...day, kind: 'sliding', limit: 9, excess: 'watch', scope: '@notes' }],
    ],
    [
      '9/month:calendar:Etc/GMT+5+overage',
      [
        {
          name: 'month',
          kind: 'calendar',
          limit: 9,
          span: MONTH,
          zone: 'Etc/GMT+5',
          excess: 'overage',
        },
      ],
    ],
    ['9/month:calendar', [{ name: 'month', kind: 'calendar', limit: 9, span: MONTH, zone: 'UTC' }]],
    [
      '9/week:calendar:Europe/Berlin:7,1/day:calendar:America/Argentina/Buenos_Aires',
      [
        {
          name: 'day',
          kind: 'calendar',
          limit: 1,
          span: 86_400_000,
          zone: 'America/Argentina/Buenos_Aires',
        },
        {
          name: 'week',
          kind: 'calendar',
          limit: 9,
          span: 7 * 86_400_000,
          zone: 'Europe/Berlin',
          anchor: 7,
        },
      ],
    ],
    ['1000000000000/366d', [{ name: '366d', kind: 'fixed', limit: 1e12, span: 366 * 86_400_000 }]],
  ])('are read from the short form %j', (text, windows) => {
    expect(parseWindows(text)).toEqual(windows);
  });

  test('are read from JSON', () => {
    const value = JSON.parse(
      '[{"limit":1000,"per":"day","kind":"fixed"},{"limit":60,"per":"minute"}]',
    );
    expect(parseWindows(value)).toEqual([minute, day]);
  });

  test.each([
    ['', ['limits [0]: must look like 60/minute or 10/10s:sliding, is ""']],
    ['60', ['limits [0]: must look like 60/minute or 10/10s:sliding, is "60"']],
    ['60/minute,', ['limits [1]: must look like 60/minute or 10/10s:sliding, is ""']],
    [
      '-1/day,1.5/hour',
      [
        'limits [0]: must look like 60/minute or 10/10s:sliding, is "-1/day"',
        'limits [1]: must look like 60/minute or 10/10s:sliding, is "1.5/hour"',
      ],
    ],
    ['1/minute:rolling', ['limits [0].kind: must be fixed, sliding or calendar, is "rolling"']],
    [
      '1/day:calendar:Europe/Berln',
      [
        'limits [0].zone: must be a time zone such as Europe/Berlin, is "Europe/Berln"; did you mean Europe/Berlin?',
      ],
    ],
    ['1/hour:sliding:UTC', ['limits [0].zone: must be absent unless kind is calendar, is "UTC"']],
    ['1/week:calendar:UTC:8', ['limits [0].anchor: must be from 1 to 7 for a week, is 8']],
    [
      '1/minute@a,2/60s@a,3/60s@b',
      ['limits [1].per: must be another span than that of entry [0], is "60s"'],
    ],
    ['1/minute@A', ['limits [0].api: must be the name of an API, is "A"']],
    ['1/minute@', ['limits [0]: must look like 60/minute or 10/10s:sliding, is "***@"']],
    [null, ['limits: must be a list, is empty']],
    [{ limit: 60, per: 'minute' }, ['limits: must be a list, is a map']],
    [
      [{ limit: '60', per: 'minute', burst: 5 }, null],
      [
        'limits [0].burst: is unknown; known here: limit, per, api, kind, zone, anchor, enforce, overage',
        'limits [0].limit: must be a whole number from 1 to 1000000000000, is "60"',
        'limits [1]: must be a map, is empty',
      ],
    ],
  ])('are refused: %j', (value, mistakes) => {
    expect(mistakesOf(() => parseWindows(value)).sort()).toEqual(mistakes);
  });

  test('are named in a mistake as in the request', () => {
    expect(mistakesOf(() => parseWindows('60', '--limits'))).toEqual([
      '--limits [0]: must look like 60/minute or 10/10s:sliding, is "60"',
    ]);
  });

  test('check only the first entries of a long text', () => {
    expect(mistakesOf(() => parseWindows('x,'.repeat(1_000_000)))).toHaveLength(100);
  });

  test('are refused or correct, for any input', () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        expect(mistakesOf(() => parseWindows(value))).not.toHaveLength(0);
      }),
    );
  });
});

describe('the short form', () => {
  const span = fc.oneof(
    fc.constantFrom('second', 'minute', 'hour', 'day'),
    fc.integer({ min: 1000, max: 366 * 86_400_000 }).map(formatDuration),
  );
  const limit = fc.integer({ min: 1, max: 1e12 });
  const kind = fc.constantFrom(...KIND_NAMES.filter((name) => name !== 'calendar'));
  const api = fc.constantFrom('notes', 'files');
  const zone = fc.constantFrom('UTC', 'Europe/Berlin', 'Etc/GMT+5', 'America/Port-au-Prince');
  const entry = fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record(
        { limit, per: span, api, kind, enforce: fc.constant(false) },
        { requiredKeys: ['limit', 'per', 'kind'] },
      ),
    },
    fc.record(
      {
        limit,
        kind: fc.constant('calendar'),
        per: fc.constantFrom('week', 'month'),
        api,
        zone,
        anchor: fc.integer({ min: 1, max: 7 }),
        overage: fc.boolean(),
      },
      { requiredKeys: ['limit', 'kind', 'per'] },
    ),
  );
  const spanOf = (one: object) => parseWindows([one])[0]!.span;
  const entries = fc.uniqueArray(entry, { minLength: 1, maxLength: 16, selector: spanOf });

  test('means the same as JSON, ordered by span, and round-trips', () => {
    fc.assert(
      fc.property(entries, (value) => {
        const windows = parseWindows(value);
        expect(parseWindows(formatWindows(windows))).toEqual(windows);
        expect(windows.map((window) => window.span)).toEqual(
          value.map(spanOf).sort((a, b) => a - b),
        );
      }),
    );
  });
});
