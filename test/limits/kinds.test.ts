import { describe, expect, test } from '@jest/globals';
import {
  DEFAULT_KIND,
  isSameCounter,
  KIND_NAMES,
  kindOf,
  WINDOW_KINDS,
  windowId,
} from '../../src/limits/kinds.ts';
import { DAY, HOUR, MINUTE, scoped, window } from '../support/limits.ts';

describe('the table of kinds', () => {
  test('is what the spelt-out look-up answers from', () => {
    for (const kind of KIND_NAMES) expect(kindOf(window(1, HOUR, kind))).toBe(WINDOW_KINDS[kind]);
    expect(new Set(Object.values(WINDOW_KINDS)).size).toBe(KIND_NAMES.length);
  });

  test('has the kind that is meant where none is written', () => {
    expect(KIND_NAMES).toContain(DEFAULT_KIND);
  });

  test('cannot be changed by what it is given to', () => {
    for (const one of [WINDOW_KINDS, KIND_NAMES, ...Object.values(WINDOW_KINDS)])
      expect(Object.isFrozen(one)).toBe(true);
  });

  test('marks kinds differently in Redis, and no script takes a mark for a part of the span', () => {
    const kinds = Object.values(WINDOW_KINDS);
    expect(new Set(kinds.map(({ code }) => code)).size).toBe(kinds.length);
    expect(new Set(kinds.map(({ mark }) => mark)).size).toBe(kinds.length);
    for (const { code, mark } of kinds) {
      expect(Number.isSafeInteger(code)).toBe(true);
      expect(mark).toMatch(/^[a-z]?$/);
    }
  });

  test('keeps the words and numbers of stored counters', () => {
    expect(
      KIND_NAMES.map((kind) => [
        windowId(window(1, HOUR, kind)),
        WINDOW_KINDS[kind].code,
        WINDOW_KINDS[kind].mark,
      ]),
    ).toEqual([
      ['fixed:3600000', 0, ''],
      ['sliding:3600000', 1, 's'],
      ['calendar:3600000', 2, 'c'],
    ]);
  });
});

describe('a counter', () => {
  const windows = KIND_NAMES.flatMap((kind) =>
    [MINUTE, DAY].flatMap((span) => [window(1, span, kind), scoped('login', 1, span, kind)]),
  );

  test('is the same for windows of one kind and span, whatever their limits, names and zones are', () => {
    for (const one of windows) {
      const other = { ...one, name: 'other', limit: 7, zone: 'Asia/Tokyo', anchor: 2 };
      expect(isSameCounter(one, other)).toBe(true);
      expect(windowId(one)).toBe(windowId(other));
    }
  });

  test('is another one for any other window', () => {
    expect(new Set(windows.map(windowId)).size).toBe(windows.length);
    for (const a of windows)
      for (const b of windows) expect(isSameCounter(a, b)).toBe(windowId(a) === windowId(b));
  });
});
