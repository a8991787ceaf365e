import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { keySchemes } from '../../../src/gateway/own/published/key-schemes.ts';
import { createNames } from '../../../src/gateway/own/published/names.ts';

const SCHEMES = {
  header: { type: 'apiKey', in: 'header', name: 'x-api-key' },
  other: { type: 'apiKey', in: 'header', name: 'X-Tenant-Key' },
  query: { type: 'apiKey', in: 'query', name: 'token' },
  raw: { type: 'apiKey', in: 'header', name: 'Authorization' },
  token: { type: 'http', scheme: 'Bearer' },
  basic: { type: 'http', scheme: 'basic' },
  oauth: { type: 'oauth2', flows: {} },
};
const HEADER = { headers: ['X-API-Key'], bearer: false };
const BOTH = { headers: ['X-API-Key'], bearer: true };
const BEARER = { headers: [], bearer: true };

type Name = keyof typeof SCHEMES;
type KeyHeaders = typeof HEADER;

function schemesOf(names: readonly Name[], keyHeaders: KeyHeaders) {
  const written = new Map(names.map((name) => [name as string, SCHEMES[name]]));
  return keySchemes(written, keyHeaders, createNames(names));
}

describe('security requirements of an operation that needs a key', () => {
  test.each<[string, readonly Name[], KeyHeaders, unknown, unknown]>([
    [
      'without any: the key in every way',
      [],
      BOTH,
      undefined,
      [{ gatewayKey: [] }, { gatewayBearer: [] }],
    ],
    ['with none in force: the key', ['token'], HEADER, [], [{ gatewayKey: [] }]],
    [
      'with an optional token: the key, and the token if sent',
      ['token'],
      HEADER,
      [{}, { token: [] }],
      [{ gatewayKey: [] }, { token: [], gatewayKey: [] }],
    ],
    ['whose scheme is that of the key', ['header'], HEADER, [{ header: [] }], [{ header: [] }]],
    [
      'whose token carries the key',
      ['token'],
      BOTH,
      [{ token: [] }],
      [{ token: [] }, { gatewayKey: [] }],
    ],
    [
      'with a token of the API',
      ['token'],
      HEADER,
      [{ token: [] }],
      [{ token: [], gatewayKey: [] }],
    ],
    ['with another header', ['other'], HEADER, [{ other: [] }], [{ other: [], gatewayKey: [] }]],
    [
      'with OAuth beside the key',
      ['oauth'],
      HEADER,
      [{ oauth: ['read'] }],
      [{ oauth: ['read'], gatewayKey: [] }],
    ],
    [
      'with OAuth where tokens are keys',
      ['oauth'],
      BOTH,
      [{ oauth: ['read'] }],
      [{ gatewayKey: [] }, { gatewayBearer: [] }],
    ],
    [
      'with a raw Authorization where tokens are keys',
      ['raw'],
      BEARER,
      [{ raw: [] }],
      [{ gatewayBearer: [] }],
    ],
    [
      'with a password: the key in a header',
      ['basic'],
      BOTH,
      [{ basic: [] }],
      [{ basic: [], gatewayKey: [] }],
    ],
    [
      'with a password that the token displaces',
      ['basic'],
      BEARER,
      [{ basic: [] }],
      [{ gatewayBearer: [] }],
    ],
    [
      'with several',
      ['token', 'query'],
      HEADER,
      [{ token: [] }, { query: [] }],
      [
        { token: [], gatewayKey: [] },
        { query: [], gatewayKey: [] },
      ],
    ],
  ])('%s', (_what, names, keyHeaders, security, needed) => {
    expect(schemesOf(names, keyHeaders).withKey(security)).toEqual(needed);
  });

  test('each contain a scheme that carries the key, and only defined schemes', () => {
    const name = fc.constantFrom(...(Object.keys(SCHEMES) as Name[]));
    const requirement = fc.dictionary(
      fc.oneof(name, fc.string()),
      fc.oneof(fc.constant([]), fc.anything()),
    );
    const keyHeaders = fc.constantFrom(HEADER, BOTH, BEARER);
    const security = fc.oneof(fc.array(requirement), fc.anything());
    fc.assert(
      fc.property(fc.uniqueArray(name), keyHeaders, security, (names, keyHeaders, security) => {
        const { added, withKey } = schemesOf(names, keyHeaders);
        const schemes = new Map<string, object>([
          ...names.map((one) => [one, SCHEMES[one]] as const),
          ...Object.entries(added as object),
        ]);
        const all = withKey(security);
        expect(all.length).toBeGreaterThan(0);
        for (const one of all) {
          const parts = Object.keys(one).map((part) => schemes.get(part) as Record<string, string>);
          const carries = ({ name = '', scheme = '' }: Record<string, string>) =>
            (keyHeaders.headers.length > 0 && name.toLowerCase() === 'x-api-key') ||
            (keyHeaders.bearer && scheme.toLowerCase() === 'bearer');
          expect(parts.every((part) => part !== undefined)).toBe(true);
          expect(parts.some(carries)).toBe(true);
        }
      }),
    );
  });
});

test('new schemes and names avoid those of the author in any spelling', () => {
  const nameOf = createNames(['GATEWAY_KEY', 'gatewayKey2']);
  expect([nameOf('gatewayKey'), nameOf('gatewayKey'), nameOf('other')]).toEqual([
    'gatewayKey3',
    'gatewayKey4',
    'other',
  ]);
});
