import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { valuesOf } from './recording-backend.ts';
import { Stand } from './stand.ts';

let stand: Stand;
beforeAll(async () => {
  stand = await Stand.start({
    settings:
      'http: {maxHeaderBytes: 128KiB}\nkeys: {headers: [X-API-Key], identity: {account: X-Tenant}}',
  });
});
afterAll(() => stand.stop());

const ask = (...headers: string[]) => stand.request('GET /pets', headers);

describe('an Authorization that is not a key', () => {
  test.each([
    ['a token of 64 KB', `Bearer ${'a'.repeat(64 * 1024)}`],
    ['another scheme', 'Digest username="a", uri="/", response="b"'],
    ['only spaces inside', `Bearer ${' '.repeat(10_000)}x`],
    ['text that looks like a key', 'Bearer sg_live_0123'],
  ])('reaches the backend unchanged: %s', async (_what, value) => {
    expect(valuesOf(await stand.passed(ask(`Authorization: ${value}`)), 'authorization')).toEqual([
      value,
    ]);
  });

  test('is refused twice, because two readers could choose differently', async () => {
    const answer = await stand.ask(ask('Authorization: Bearer a', 'Authorization: Bearer b'));
    expect(answer).toMatchObject({ status: 401, code: 'invalid_api_key' });
  });

  test('can be removed by the client, and nothing else with it', async () => {
    const request = await stand.passed(
      ask('Authorization: Bearer a', 'Connection: Authorization, X-Tenant'),
    );
    expect(valuesOf(request, 'authorization')).toEqual([]);
    expect(valuesOf(request, 'x-tenant')).toEqual(['acme']);
  });
});

test.each(['Authorization: Bearer', 'Authorization: Token', 'X-Other:', 'X_API_Key:'])(
  'a key in the wrong header as well is removed: %s',
  async (start) => {
    const request = await stand.passed(ask(`${start} ${stand.secret}`));
    expect(JSON.stringify(request)).not.toContain(stand.secret);
  },
);

test.each([
  'X-Tenant: victim',
  'x_tenant: victim',
  'X-Storegate-Key-Id: key_victim',
  'X-Storegate-Scopes: admin',
])('an identity that the client states is removed: %s', async (line) => {
  expect(JSON.stringify(await stand.passed(ask(line)))).not.toMatch(/victim|admin/);
});
