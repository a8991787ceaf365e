import { describe, expect, test } from '@jest/globals';
import { draftOf } from '../src/browser/views/plans/draft.ts';

function formOf(limits: string, count: string, concurrency = '', workers = ''): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries({ limits, count, concurrency, workers }))
    form.set(name, value);
  return form;
}

describe('a plan as it is written in the field', () => {
  const free = { limits: '60/minute,1000/day' };
  const drop = ['minute', 'day'];
  test.each([
    ['30/minute,1000/day', { limits: '30/minute,1000/day', drop }],
    [' 30/minute ', { limits: '30/minute', drop }],
    ['9/month:calendar:Europe/Berlin:15', { limits: '9/month:calendar:Europe/Berlin:15', drop }],
    ['9/day+watch', { limits: '9/day+watch', drop }],
    ['10/10s:sliding, 5/hour', { limits: '10/10s:sliding, 5/hour', drop }],
    ['', { limits: null }],
  ])('%j is all that it has then', (text, expected) => {
    expect(draftOf(free, formOf(text, 'key'))).toEqual({
      ...expected,
      count: 'key',
      concurrency: null,
      workers: null,
    });
  });

  test('drops windows of an API by their names', () => {
    const plan = { limits: '60/minute,5/minute@notes:sliding+watch' };
    const { drop: dropped } = draftOf(plan, formOf('5/minute@notes', 'key'));
    expect(dropped).toEqual(['minute', 'minute@notes']);
  });

  test.each([{ limits: null }, null])('drops nothing of %j', (plan) => {
    expect(draftOf(plan, formOf('1/day', 'account', ' 5 ', '30'))).toEqual({
      limits: '1/day',
      count: 'account',
      concurrency: 5,
      workers: 30,
    });
  });
});
