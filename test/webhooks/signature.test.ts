import { Buffer } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { signaturesOf } from '../../src/webhooks/send.ts';

/** The test vector of the Standard Webhooks libraries. */
const SIGNED = {
  id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  timestamp: 1_614_265_330,
  body: '{"test": 2432232314}',
};
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const SIGNATURE = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=';

test('a signature follows the standard', () => {
  expect(signaturesOf(SIGNED, [SECRET])).toBe(SIGNATURE);
});

test('each secret signs, separated by spaces', () => {
  const other = `whsec_${Buffer.alloc(64, 7).toString('base64')}`;
  const both = signaturesOf(SIGNED, [other, SECRET]).split(' ');
  expect(both).toHaveLength(2);
  expect(both[1]).toBe(SIGNATURE);
  expect(both[0]).toMatch(/^v1,[A-Za-z0-9+/]{43}=$/);
  expect(both[0]).not.toBe(SIGNATURE);
});

test.each([
  ['id', { ...SIGNED, id: 'msg_other' }],
  ['time of the attempt', { ...SIGNED, timestamp: SIGNED.timestamp + 1 }],
  ['body', { ...SIGNED, body: `${SIGNED.body} ` }],
])('another %s has another signature', (_, signed) => {
  expect(signaturesOf(signed, [SECRET])).not.toBe(SIGNATURE);
});

test('the code of docs/webhooks.md accepts a valid signature and no other', async () => {
  const page = readFileSync(resolve(import.meta.dirname, '../../docs/webhooks.md'), 'utf8');
  const [, code = ''] = /^```js\n([\s\S]*?)^```$/m.exec(page) ?? [];
  const { verify } = await import(`data:text/javascript,${encodeURIComponent(code)}`);
  const [id, timestamp, body] = ['msg_1', Math.floor(Date.now() / 1_000), '{"type":"test"}'];
  const old = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signaturesOf({ id, timestamp, body }, [SECRET, old]),
  };
  expect(verify(headers, body, SECRET)).toEqual({ type: 'test' });
  expect(verify(headers, body, old)).toEqual({ type: 'test' });
  expect(() => verify(headers, `${body} `, SECRET)).toThrow('invalid signature');
  expect(() =>
    verify({ ...headers, 'webhook-timestamp': String(timestamp - 301) }, body, SECRET),
  ).toThrow('too old');
});
