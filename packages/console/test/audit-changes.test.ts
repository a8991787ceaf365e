import { describe, expect, test } from '@jest/globals';
import { changeText, whatChanged } from '../src/browser/views/audit/changes.ts';

describe('what an entry of the audit log changed', () => {
  const entry = (before: Record<string, unknown> | null, after: Record<string, unknown> | null) => {
    return [
      whatChanged({ before, after }).map(({ name }) => name),
      changeText({ target: 'key_1', before, after }),
    ];
  };
  test.each([
    [
      'one field',
      { label: 'a', plan: 'free' },
      { label: 'b', plan: 'free' },
      [['label'], 'label: a → b'],
    ],
    [
      'several',
      { label: null, addresses: [], scopes: ['read'] },
      { label: 'b', addresses: ['10.0.0.0/8'], scopes: [] },
      [['label', 'addresses', 'scopes'], 'label: none → b, and 2 more'],
    ],
    [
      'an object',
      { rotation: null },
      { rotation: { overlapEnds: null, times: 2 } },
      [['rotation'], 'rotation: none → overlap ends none, times 2'],
    ],
    [
      'something new',
      null,
      { id: 'key_1', account: 'acme', plan: 'free', metadata: {} },
      [['id', 'account', 'plan'], 'new: account acme, plan free'],
    ],
    ['something that is gone', { name: 'ci', role: 'read' }, null, [['name', 'role'], 'gone']],
    ['nothing', { a: { b: 1 } }, { a: { b: 1 } }, [[], 'no visible fields']],
  ])('%s', (_name, before, after, expected) => {
    expect(entry(before, after)).toEqual(expected);
  });
});
