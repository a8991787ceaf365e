import { describe, expect, test } from '@jest/globals';
import { createFieldNames, createReturnedNames } from '../../../src/gateway/wire/fields.ts';
import { Via } from '../../../src/gateway/wire/via.ts';

const names = createFieldNames({ strip: ['x-own', 'x-inner-*'] });
const returned = createReturnedNames({ cors: false, via: new Via(new Uint8Array(32)) });

/** RFC 9110 section 7.6.1 and the names that precede it. Connection names none of them here. */
const HOP_BY_HOP = [
  'Connection',
  'HTTP2-Settings',
  'Keep-Alive',
  'Proxy-Authenticate',
  'Proxy-Authorization',
  'Proxy-Connection',
  'TE',
  'Trailer',
  'Transfer-Encoding',
  'Upgrade',
];

describe('a hop-by-hop field that Connection does not name', () => {
  test.each(HOP_BY_HOP)('%s passes in neither direction', (name) => {
    expect([names.of(name).forwarded, returned.of(name).returned]).toEqual([false, false]);
  });
});

test.each([
  'Content-Length',
  'Expect',
  'Forwarded',
  'Host',
  'X-Real-IP',
  'x.real_ip',
  'X-Request-Id',
  'Front-End-Https',
  'True-Client-IP',
  'X-Client-IP',
  'X-HTTP-Method-Override',
  'X-Accel-Redirect',
  'X-Original-URL',
  'X-Rewrite-URL',
  'X-Storegate-Account',
  'X_Storegate_Plan',
  'X-Forwarded-Prefix',
  'X-API-Key',
  'x-own',
  'X_Inner-Secret',
])('the field %s of a client does not reach the backend', (name) => {
  expect(names.of(name).forwarded).toBe(false);
});

test.each([
  'RateLimit',
  'RateLimit-Policy',
  'X-Request-Id',
  'X-RateLimit-Limit',
  'Access-Control-Allow-Origin',
])('the field %s of a backend does not reach the client', (name) => {
  expect(returned.of(name).returned).toBe(false);
});

test.each(['Accept', 'Authorization', 'Cookie', 'If-None-Match', 'Traceparent', 'X-Kept'])(
  'the field %s passes in both directions',
  (name) => {
    expect([names.of(name).forwarded, returned.of(name).returned]).toEqual([true, true]);
  },
);
