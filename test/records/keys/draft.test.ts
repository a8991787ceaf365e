import { expect, test } from '@jest/globals';
import { formErrors } from '../../../src/records/keys/draft.ts';

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
