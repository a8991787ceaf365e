import { expect, test } from '@jest/globals';
import { namesIn } from './promql.ts';

const plain = (metric: string) => ({ metric, matchers: [] });

test.each([
  ['up', ['up'], []],
  ['sum by (job, le) (rate(a_total[5m]))', ['a_total'], ['job', 'le']],
  ['sum(rate(a_total[1d:1m])) without (job)', ['a_total'], ['job']],
  ['a / on (job) group_left () b offset 1h', ['a', 'b'], ['job']],
  ['a and on (job) count_over_time(b[3m]) > bool 1e3', ['a', 'b'], ['job']],
  [
    'a:b:c unless ignoring (result) c >= ignoring (result) d',
    ['a:b:c', 'c', 'd'],
    ['result', 'result'],
  ],
  ['time() - a < 2 * 24 * 3600', ['a'], []],
])('%s names %j and groups by %j', (expression, metrics, groupings) => {
  expect(namesIn(expression)).toEqual({ selectors: metrics.map(plain), groupings });
});

test('finds labels with operator and value, and no names in strings', () => {
  expect(
    namesIn(`absent(up{job="a, b{c}", code=~"x|y", mode!='normal'}) or vector(0)`).selectors,
  ).toEqual([
    {
      metric: 'up',
      matchers: [
        { label: 'job', operator: '=', value: 'a, b{c}' },
        { label: 'code', operator: '=~', value: 'x|y' },
        { label: 'mode', operator: '!=', value: 'normal' },
      ],
    },
  ]);
});

test('reports syntax that it cannot read', () => {
  expect(() => namesIn('up ? 1')).toThrow('cannot read ?');
});
