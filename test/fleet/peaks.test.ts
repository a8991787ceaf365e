import { expect, test } from '@jest/globals';
import { isPeaksAnswer, readPeaksQuestion } from '../../src/fleet/peaks.ts';

const window = { kind: 'fixed', span: 60_000, above: 3 };

test.each<[unknown, boolean]>([
  [{ plan: 'free', windows: [window] }, true],
  [{ plan: 'free', windows: [] }, true],
  [{ plan: 'free', windows: Array(9).fill(window) }, false],
  [{ plan: 7, windows: [window] }, false],
  [{ plan: 'free', windows: [{ ...window, kind: 'constructor' }] }, false],
  [{ plan: 'free', windows: [{ ...window, span: -1 }] }, false],
  [{ plan: 'free', windows: [{ ...window, above: '3' }] }, false],
  [null, false],
])('%j is a question: %s', (asked, is) => {
  expect(readPeaksQuestion(asked)).toEqual(is ? asked : null);
});

const answer = {
  since: 1,
  missing: 0,
  costliest: 1,
  countedSince: [0],
  windows: [{ floor: 0, rows: [['key:a', [1, 2]]] }],
};

test.each<[unknown, boolean]>([
  [answer, true],
  [{ ...answer, windows: [], countedSince: [] }, false],
  [{ ...answer, countedSince: undefined }, false],
  [{ ...answer, windows: [{ floor: 0, rows: [['key:a', [1]]] }] }, false],
  [{ ...answer, windows: [{ floor: 0, rows: [['key:a', [1, 'many']]] }] }, false],
  [{ ...answer, windows: [{ floor: 0, rows: ['key:a'] }] }, false],
  [{ ...answer, windows: [{ floor: -1, rows: [] }] }, false],
  [{ ...answer, since: null }, false],
  [null, false],
])('%j is an answer about one window: %s', (told, is) => {
  expect(isPeaksAnswer(told, 1)).toBe(is);
});
