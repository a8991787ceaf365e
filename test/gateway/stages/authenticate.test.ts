import { describe, expect, test } from '@jest/globals';
import type { Guard } from '../../../src/common/clients/guard.ts';
import { Refusal } from '../../../src/common/errors/refusals.ts';
import { DEFAULT_KEY_HEADERS, type KeyHeaders } from '../../../src/common/key-headers.ts';
import { createAuthenticate } from '../../../src/gateway/stages/authenticate.ts';
import type { Plan } from '../../../src/limits/plans.ts';
import type { Client } from '../../../src/records/keys/key.ts';
import type { Keyring } from '../../../src/records/keys/keyring.ts';
import { hashSecret, makeSecret } from '../../../src/records/keys/secret.ts';
import { exchangeOf, foundClient, targetOf, via } from '../../support/exchange.ts';
import { TestClock, window } from '../../support/limits.ts';

const SECRET = makeSecret('test');
const OTHER = makeSecret('test');
const target = targetOf('/pets');

/** `keys` by secret; a look-up of a key in `later` returns a promise. */
function authenticating({
  keys = { [SECRET]: foundClient() },
  later = false,
  acceptsImported = false,
  failuresLeft = 10,
  keyHeaders = DEFAULT_KEY_HEADERS,
}: {
  keys?: Readonly<Record<string, Client>>;
  later?: boolean;
  acceptsImported?: boolean;
  failuresLeft?: number;
  keyHeaders?: KeyHeaders;
} = {}) {
  const clock = new TestClock();
  const byHash = new Map(
    Object.entries(keys).map(([secret, client]) => [hashSecret(secret), client]),
  );
  const lookedUp: string[] = [];
  const failed: string[] = [];
  const keyring = {
    acceptsImported,
    cached: (hash: string) => (later ? null : (byHash.get(hash) ?? null)),
    find(hash: string) {
      lookedUp.push(hash);
      const client = byHash.get(hash) ?? null;
      return later ? Promise.resolve(client) : client;
    },
  } as unknown as Keyring;
  const guard = {
    async fail(address: string) {
      failed.push(address);
      const readings = [
        { window: window(10, 60_000), remaining: failuresLeft, resetAt: clock.now + 5_000 },
      ];
      return { readings, now: clock.now, exhausted: failed.length > failuresLeft };
    },
  } as unknown as Guard;
  const authenticate = createAuthenticate({
    keyring,
    guard,
    clock: clock.read,
    keyHeaders,
    anonymous: null,
    via,
  });
  const by = (headers: Record<string, string>, exchange = exchangeOf('GET', headers)) => ({
    exchange,
    answer: authenticate(exchange, target),
  });
  return { by, clock, lookedUp, failed };
}

describe('a valid key', () => {
  test.each([
    ['X-API-Key', { 'X-API-Key': SECRET }],
    ['Authorization: Bearer', { Authorization: `Bearer ${SECRET}` }],
    ['both, the same', { 'X-API-Key': SECRET, Authorization: `bearer ${SECRET}` }],
  ])('in %s returns its client synchronously if it is known', (_where, headers) => {
    const { by, lookedUp, failed } = authenticating();
    const { answer: response, exchange } = by(headers);
    expect(response).toEqual(foundClient());
    expect(exchange.client).toEqual(foundClient());
    expect(lookedUp).toEqual([]);
    expect(failed).toEqual([]);
  });

  test('is looked up if it is not known', async () => {
    const { by, lookedUp } = authenticating({ later: true });
    expect(await by({ 'X-API-Key': SECRET }).answer).toEqual(foundClient());
    expect(lookedUp).toEqual([hashSecret(SECRET)]);
  });

  test('of another system is accepted only after an import', async () => {
    const keys = { 'an old key': foundClient() };
    const headers = { 'X-API-Key': 'an old key' };
    expect(await authenticating({ keys, later: true }).by(headers).answer).toMatchObject({
      code: 'invalid_api_key',
    });
    const { by } = authenticating({ keys, later: true, acceptsImported: true });
    expect(await by(headers).answer).toEqual(foundClient());
  });
});

describe('a request without a valid key', () => {
  test.each<[string, Record<string, string>, string]>([
    ['none', {}, 'missing_api_key'],
    ['another scheme', { Authorization: 'Basic YTpi' }, 'missing_api_key'],
    [
      'two different ones',
      { 'X-API-Key': SECRET, Authorization: `Bearer ${OTHER}` },
      'invalid_api_key',
    ],
    ['one of the wrong form', { 'X-API-Key': 'sg_test_typo' }, 'invalid_api_key'],
    ['one that is too long', { 'X-API-Key': 'x'.repeat(600) }, 'invalid_api_key'],
    ['one that was never issued', { 'X-API-Key': OTHER }, 'invalid_api_key'],
  ])('is 401 and counted at its address: %s', async (_what, headers, code) => {
    const { by, failed } = authenticating();
    const { answer: response, exchange } = by(headers);
    const refusal = (await response) as Refusal;
    expect(refusal).toBeInstanceOf(Refusal);
    expect(refusal).toMatchObject({ code, status: 401 });
    expect(refusal.headers).toEqual([
      'WWW-Authenticate',
      expect.stringContaining('Bearer realm="storegate"'),
    ]);
    expect(failed).toEqual(['192.0.2.1']);
    expect(exchange.usage?.readings).toHaveLength(1);
  });

  test('costs no look-up if the form or the checksum is wrong', async () => {
    const { by, lookedUp } = authenticating();
    await by({ 'X-API-Key': `${SECRET.slice(0, -1)}${SECRET.endsWith('0') ? '1' : '0'}` }).answer;
    expect(lookedUp).toEqual([]);
  });

  test('is 429 after too many failures of its address', async () => {
    const { by } = authenticating({ failuresLeft: 1 });
    await by({}).answer;
    expect(await by({}).answer).toMatchObject({
      code: 'too_many_failed_attempts',
      status: 429,
      headers: ['Retry-After', '5'],
    });
  });
});

test('a request that comes back is 508, counted at its address, whatever its key is', async () => {
  const { by, failed, lookedUp } = authenticating({
    keys: { [SECRET]: foundClient() },
    failuresLeft: 1,
  });
  for (const headers of [{}, { 'X-API-Key': SECRET }, { 'X-API-Key': OTHER }]) {
    const { answer: response, exchange } = by({ Via: `1.1 other, ${via.values[1]}`, ...headers });
    expect(await response).toMatchObject({ code: 'loop_detected', status: 508 });
    expect(exchange.usage?.readings).toHaveLength(1);
  }
  expect([failed.length, lookedUp]).toEqual([3, []]);
});

const listed = (allow: readonly string[], deny: readonly string[]): Plan => ({
  name: 'free',
  count: 'key',
  windows: null,
  addresses: { allow, deny },
});

test.each([
  { key: null, plan: listed(['192.0.2.0/24'], []) },
  { key: ['192.0.2.1/32'], plan: listed(['192.0.2.0/24'], ['192.0.2.2']) },
])('a key is accepted if its addresses and those of its plan allow it: %j', async (addresses) => {
  const { by } = authenticating({ keys: { [SECRET]: foundClient({ addresses }) } });
  expect(await by({ 'X-API-Key': SECRET }).answer).toMatchObject({ keyId: 'key_1' });
});

describe('a key that may not be used', () => {
  const at = Date.UTC(2026, 0, 1);
  test.each<[string, Partial<Client>, string, number]>([
    ['disabled', { withdrawn: 'disabled' }, 'key_disabled', 401],
    ['revoked', { withdrawn: 'revoked' }, 'key_disabled', 401],
    ['expired', { expiresAt: at }, 'key_expired', 401],
    ['replaced', { retiresAt: at }, 'key_retired', 401],
    [
      'from elsewhere',
      { addresses: { key: ['198.51.100.0/24'], plan: null } },
      'address_not_allowed',
      403,
    ],
    [
      'where its plan may not',
      { addresses: { key: null, plan: listed(['198.51.100.0/24'], []) } },
      'address_not_allowed',
      403,
    ],
    [
      'where the key may, and its plan not',
      { addresses: { key: ['192.0.2.0/24'], plan: listed([], ['192.0.2.1']) } },
      'address_not_allowed',
      403,
    ],
  ])('is refused: %s', async (_what, given, code, status) => {
    const { by } = authenticating({ keys: { [SECRET]: foundClient(given) } });
    expect(await by({ 'X-API-Key': SECRET }).answer).toMatchObject({ code, status });
  });

  test('works until the moment it expires or is replaced', () => {
    const keys = { [SECRET]: foundClient({ expiresAt: at + 1, retiresAt: at + 1 }) };
    expect(authenticating({ keys }).by({ 'X-API-Key': SECRET }).answer).toMatchObject({
      keyId: 'key_1',
    });
  });

  test('is refused with 403 if it has no limits: never unlimited, and clients do not retry', () => {
    const { by } = authenticating({ keys: { [SECRET]: foundClient({ limits: null }) } });
    const { answer: response } = by({ 'X-API-Key': SECRET });
    expect(response).toMatchObject({
      code: 'limits_not_set',
      status: 403,
      reason: expect.stringContaining('has no limits for the plan free'),
    });
    expect(by({ 'X-API-Key': SECRET }).answer).toBe(response);
  });
});
