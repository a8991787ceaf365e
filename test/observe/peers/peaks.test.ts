import { expect, test } from '@jest/globals';
import { type PeaksAnswer, type PeaksQuery, peaks } from '../../../src/observe/peers/peaks.ts';

const window = { kind: 'fixed', span: 60_000, above: 3 } as const;
const QUESTION: PeaksQuery = { plan: 'free', windows: [window] };

test.each<[unknown, boolean]>([
  [{ plan: 'free', windows: [window] }, true],
  [{ plan: 'free', windows: [] }, true],
  [{ plan: 'free', windows: Array(9).fill(window) }, false],
  [{ plan: 7, windows: [window] }, false],
  [{ plan: 'free', windows: [{ ...window, kind: 'constructor' }] }, false],
  [{ plan: 'free', windows: [{ ...window, span: -1 }] }, false],
  [{ plan: 'free', windows: [{ ...window, above: '3' }] }, false],
  [null, false],
])('%j as a query: %s', (asked, is) => {
  expect(peaks.isArgument(asked)).toBe(is);
});

const answer = {
  since: 1,
  missing: 0,
  costliest: 1,
  countedSince: [0],
  windows: [{ floor: 0, local: false, rows: [['key:a', [1, 2]]] }],
};

test.each<[unknown, boolean]>([
  [answer, true],
  [{ ...answer, windows: [], countedSince: [] }, false],
  [{ ...answer, countedSince: undefined }, false],
  [{ ...answer, windows: [{ floor: 0, local: false, rows: [['key:a', [1]]] }] }, false],
  [{ ...answer, windows: [{ floor: 0, local: false, rows: [['key:a', [1, 'many']]] }] }, false],
  [{ ...answer, windows: [{ floor: 0, local: false, rows: ['key:a'] }] }, false],
  [{ ...answer, windows: [{ floor: -1, local: false, rows: [] }] }, false],
  [{ ...answer, since: null }, false],
  [{ ...answer, since: 9e15 }, false],
  [{ ...answer, countedSince: [9e15] }, false],
  [{ ...answer, windows: [{ floor: 0, local: false, rows: [['key:a', [9e15, 2]]] }] }, false],
  [null, false],
])('%j as a response about one window: %s', (answer, is) => {
  expect(peaks.isAnswer(answer, QUESTION)).toBe(is);
});

test('merged peaks of the workers stay within the limit for gateways, with the highest uses', async () => {
  const used = 4_000_000_000;
  const workers = Array.from({ length: 16 }, (_, worker) => {
    const readings = Array.from({ length: 23_000 }, (_, i) => [
      1_700_000_000_000 + i,
      used + worker,
    ]).flat();
    const rows = [[`account:free:${worker}${'x'.repeat(100)}`, readings]] as const;
    return { since: worker, costliest: 1, windows: [{ floor: 7, local: false, rows }] };
  });
  const gateway = { windowsSince: { of: () => 0 } };
  const merged = await peaks.answer({ parts: workers, missing: 0 }, QUESTION, gateway);
  const { since, windows } = merged as PeaksAnswer;
  expect(since).toBe(15);
  expect(JSON.stringify(windows).length).toBeLessThan(1_000_000);
  const [{ floor, rows }] = windows as [(typeof windows)[number]];
  expect(floor).toBeGreaterThanOrEqual(used);
  expect(rows.at(-1)).toEqual(workers[15]!.windows[0]!.rows[0]);
});
