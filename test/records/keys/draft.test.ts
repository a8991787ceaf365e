import { describe, expect, test } from '@jest/globals';
import { parsePlans } from '../../../src/config/plans.ts';
import { parseWindows } from '../../../src/config/windows.ts';
import { draftErrors, formErrors } from '../../../src/records/keys/draft.ts';

test.each([
  ['192.0.2.7', true],
  ['10.0.0.0/8', true],
  ['2001:db8::/32', true],
  ['10.0.0.1/8', false],
  ['2001:db8::1/32', false],
  ['10.0.0.0/33', false],
  ['fe80::1%eth0', false],
])('whether a key may be bound to %s: %s', (block, isValid) => {
  const messages = formErrors({ account: 'acme', env: 'test', addresses: [block] }).map(
    ({ message }) => message,
  );
  const form =
    'address 1 is not an address, or a block such as 10.0.0.0/8 that begins with its first address';
  expect(messages).toEqual(isValid ? [] : [form]);
});

describe('an API that a key names', () => {
  const plans = parsePlans('plans: { free: { windows: [{ limit: 9, per: day }] } }', ['a', 'b']);
  const draft = { account: 'acme', plan: 'free', env: 'test' };
  const gone = { apis: ['b', 'gone'], windows: parseWindows('9/day,9/day@gone') };
  const must = 'must be the name of an API: a, b';

  test('must exist, and is quoted only for those who typed it', () => {
    expect(draftErrors(plans, { ...draft, ...gone }, 0)).toEqual([
      {
        field: 'limits',
        message: `the API of a limit ${must}`,
        quoting: `the API of a limit ${must}, is "gone"`,
      },
      {
        field: 'apis',
        message: `the API of a key ${must}`,
        quoting: `the API of a key ${must}, is "gone"`,
      },
    ]);
  });

  test('may have gone when something else of the key is changed', () => {
    const changed = { ...draft, ...gone, label: 'other' };
    expect(draftErrors(plans, changed, 0, { label: 'other' })).toEqual([]);
    expect(draftErrors(plans, changed, 0, { apis: ['a'] })).toEqual([]);
    expect(draftErrors(plans, changed, 0, { apis: null })).toEqual([]);
  });
});
