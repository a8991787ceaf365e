import { expect, test } from '@jest/globals';
import { createAddressWindow } from '../../../src/common/clients/address-window.ts';
import { Refusal } from '../../../src/common/errors/refusals.ts';
import type { KnownClient } from '../../../src/gateway/results.ts';
import { admitPreflights, withPreflights } from '../../../src/gateway/stages/anonymous.ts';
import { admittedClient, exchangeOf, knownClient, targetOf } from '../../support/exchange.ts';

const PREFLIGHT = { Origin: 'https://shop.example', 'Access-Control-Request-Method': 'PUT' };
const anonymous = withPreflights(null, ['/usage']);
const clientAt = (address: string) =>
  anonymous(exchangeOf('OPTIONS', PREFLIGHT, { address }), targetOf('/pets')) as KnownClient;

test.each<
  [name: string, method: string, fields: Record<string, string>, path: string, passes: boolean]
>([
  ['a preflight', 'OPTIONS', PREFLIGHT, '/pets', true],
  ['OPTIONS without Origin', 'OPTIONS', { 'Access-Control-Request-Method': 'PUT' }, '/pets', false],
  ['OPTIONS for no method', 'OPTIONS', { Origin: 'https://shop.example' }, '/pets', false],
  ['another method', 'GET', PREFLIGHT, '/pets', false],
  ['a preflight for /usage', 'OPTIONS', PREFLIGHT, '/usage', false],
])('%s without a key', (_, method, fields, path, passes) => {
  expect(anonymous(exchangeOf(method, fields), targetOf(path)) !== null).toBe(passes);
});

test('a preflight for /usage passes without a key if the path belongs to the API', () => {
  const withoutUsage = withPreflights(null, []);
  expect(withoutUsage(exchangeOf('OPTIONS', PREFLIGHT), targetOf('/usage'))).not.toBeNull();
});

test('preflights have an allowance of their own per address, and the state is not called', async () => {
  let requested = 0;
  const admit = admitPreflights(() => {
    requested++;
    return admittedClient();
  }, createAddressWindow);
  const send = (address: string) =>
    admit(exchangeOf('OPTIONS', PREFLIGHT, { address }), clientAt(address), 1);
  for (let i = 0; i < 6_000; i++) expect(await send('192.0.2.1')).not.toBeInstanceOf(Refusal);
  const exchange = exchangeOf('OPTIONS', PREFLIGHT, { address: '192.0.2.1' });
  const refused = (await admit(exchange, clientAt('192.0.2.1'), 1)) as Refusal;
  expect(refused).toMatchObject({
    code: 'rate_limit_exceeded',
    headers: ['Retry-After', expect.any(String)],
  });
  expect(exchange.usage!.readings[0]).toMatchObject({
    window: { name: 'preflights', limit: 6_000 },
    used: 6_000,
  });
  expect(await send('192.0.2.2')).not.toBeInstanceOf(Refusal);
  expect(requested).toBe(0);
});

test('a preflight with a key, and every other request, is charged as usual', async () => {
  let requested = 0;
  const admit = admitPreflights(() => {
    requested++;
    return admittedClient();
  }, createAddressWindow);
  await admit(exchangeOf('OPTIONS', PREFLIGHT), knownClient(), 1);
  await admit(exchangeOf('GET'), clientAt('192.0.2.1'), 1);
  expect(requested).toBe(2);
});
