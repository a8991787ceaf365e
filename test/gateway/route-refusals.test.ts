import { expect, test } from '@jest/globals';
import { methodNotAllowed, notFound, sunset } from '../../src/gateway/route-refusals.ts';
import { makeSecret } from '../../src/records/keys/secret.ts';
import { exchangeOf } from '../support/exchange.ts';

const exchange = exchangeOf('PATCH');

test('a path without an operation is named, with a similar path or the contract', () => {
  expect(notFound(exchange, '/pet', '/pets').message).toBe(
    'No operation matches PATCH /pet. Did you mean /pets?',
  );
  expect(notFound(exchange, '/x', null).message).toBe(
    'No operation matches PATCH /x. See /openapi.json.',
  );
});

test('a method that is not allowed is named, with those that are', () => {
  const { message, headers } = methodNotAllowed(exchange, '/pets', ['GET', 'POST']);
  expect(message).toBe('PATCH is not allowed for /pets. Allowed: GET, POST.');
  expect(headers).toEqual(['Allow', 'GET, POST']);
});

test('a retired operation is named, with the date', () => {
  expect(sunset(exchange, '/old', 1_767_225_600).message).toMatch(
    /^PATCH \/old was retired on 2026-01-01\. Use /,
  );
});

test('a path is masked, then cut, and never recorded', () => {
  const secret = makeSecret('live');
  const { message, recorded } = notFound(
    exchange,
    `/${'a'.repeat(185)}/${secret}/${'b'.repeat(100)}`,
    null,
  );
  expect(message).toBe(
    `No operation matches PATCH /${'a'.repeat(185)}/sg_…/${'b'.repeat(8)}…. See /openapi.json.`,
  );
  expect(recorded).toBe('No operation matches the method and path.');
});
