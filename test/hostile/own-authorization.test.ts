import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Fixture } from './fixture.ts';
import { valuesOf } from './recording-backend.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await Fixture.start({
    settings:
      'http: {maxHeaderBytes: 128KiB}\nkeys: {headers: [X-API-Key], identity: {account: X-Tenant}}',
  });
});
afterAll(() => fixture.stop());

const ask = (...headers: string[]) => fixture.request('GET /pets', headers);

describe('an Authorization that is not a key', () => {
  test.each([
    ['a token of 64 KB', `Bearer ${'a'.repeat(64 * 1024)}`],
    ['another scheme', 'Digest username="a", uri="/", response="b"'],
    ['only spaces inside', `Bearer ${' '.repeat(10_000)}x`],
    ['text that looks like a key', 'Bearer sg_live_0123'],
  ])('reaches the backend unchanged: %s', async (_what, value) => {
    expect(valuesOf(await fixture.passed(ask(`Authorization: ${value}`)), 'authorization')).toEqual(
      [value],
    );
  });

  test('is refused twice, because two readers could choose differently', async () => {
    const response = await fixture.ask(ask('Authorization: Bearer a', 'Authorization: Bearer b'));
    expect(response).toMatchObject({ status: 401, code: 'invalid_api_key' });
  });

  test('can be removed by the client, and nothing else with it', async () => {
    const request = await fixture.passed(
      ask('Authorization: Bearer a', 'Connection: Authorization, X-Tenant'),
    );
    expect(valuesOf(request, 'authorization')).toEqual([]);
    expect(valuesOf(request, 'x-tenant')).toEqual(['acme']);
  });
});

test.each(['Authorization: Bearer', 'Authorization: Token', 'X-Other:', 'X_API_Key:'])(
  'a key in the wrong header as well is removed: %s',
  async (start) => {
    const request = await fixture.passed(ask(`${start} ${fixture.secret}`));
    expect(JSON.stringify(request)).not.toContain(fixture.secret);
  },
);

test.each([
  'X-Tenant: other-client',
  'x_tenant: other-client',
  'X-Storegate-Key-Id: key_other-client',
  'X-Storegate-Scopes: admin',
])('an identity that the client states is removed: %s', async (line) => {
  expect(JSON.stringify(await fixture.passed(ask(line)))).not.toMatch(/other-client|admin/);
});
