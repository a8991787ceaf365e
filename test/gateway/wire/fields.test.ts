import { expect, test } from '@jest/globals';
import { createFieldNames, createReturnedNames } from '../../../src/gateway/wire/fields.ts';
import { Via } from '../../../src/gateway/wire/via.ts';

const names = createFieldNames({ strip: ['x-own', 'x-inner-*'] });
const returned = createReturnedNames({ cors: false, via: new Via(new Uint8Array(32)) });

/** RFC 9110 section 7.6.1 and the names that precede it. Connection names none of them here. */
const HOP_BY_HOP = `
  Connection HTTP2-Settings Keep-Alive Proxy-Authenticate Proxy-Authorization Proxy-Connection TE
  Trailer Transfer-Encoding Upgrade
`;
const NOT_FORWARDED = `
  Content-Length Expect Forwarded Host X-Real-IP x.real_ip X-Request-Id X-API-Key Forwarded-For
  Front-End-Https True-Client-IP X-Client-IP X-Cluster-Client-IP X-Custom-IP-Authorization
  X-Forwarded X-Forwarded-Host X-Forwarded-Prefix X_Forwarded_For X-Original-Forwarded-For
  X-ProxyUser-Ip X-HTTP-Method X-HTTP-Method-Override X_HTTP_METHOD_OVERRIDE X-Method-Override
  X-Original-Method X-Accel-Redirect X-Forwarded-URL X-Host X-Original-Host X-Original-URI
  X-Original-URL X-Proxy-URL X-Rewrite-URI X-Rewrite-URL X-Storegate-Account X_Storegate_Plan
  x-own X_Inner-Secret
`;
const NOT_RETURNED = `
  RateLimit RateLimit-Policy X-Request-Id X-RateLimit-Limit Access-Control-Allow-Origin
`;
const FREE = 'Accept Authorization Cookie If-None-Match Traceparent X-Kept';

const listed = (text: string) => text.trim().split(/\s+/);

test.each(listed(HOP_BY_HOP))(
  'the hop-by-hop field %s passes in neither direction, without Connection too',
  (name) => {
    expect([names.of(name).forwarded, returned.of(name).returned]).toEqual([false, false]);
  },
);

test.each(listed(NOT_FORWARDED))('the field %s of a client does not reach the backend', (name) => {
  expect(names.of(name).forwarded).toBe(false);
});

test.each(listed(NOT_RETURNED))('the field %s of a backend does not reach the client', (name) => {
  expect(returned.of(name).returned).toBe(false);
});

test.each(listed(FREE))('the field %s passes in both directions', (name) => {
  expect([names.of(name).forwarded, returned.of(name).returned]).toEqual([true, true]);
});
