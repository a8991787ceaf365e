import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
let secret: string;
beforeAll(async () => {
  gateway = await TestGateway.start();
  ({ secret } = await gateway.key({ plan: 'business' }));
});
afterAll(() => gateway.stop());

const auth = () => ({ 'X-API-Key': secret, 'Content-Type': 'application/json' });

/** Bodies as text, because JavaScript numbers would lose the digits in question. */
async function send(
  method: string,
  path: string,
  body?: string,
): Promise<{ status: number; text: string }> {
  const response = await fetch(`${gateway.url}${path}`, {
    method,
    headers: auth(),
    ...(body === undefined ? {} : { body }),
  });
  return { status: response.status, text: await response.text() };
}

describe('through the gateway', () => {
  test.each(['9223372036854775807', '-9223372036854775808', '9007199254740993'])(
    'the int64 %s passes in both directions without losing a digit',
    async (id) => {
      const made = await send('POST', '/store/orders', `{"petId":${id},"quantity":1}`);
      expect(made).toMatchObject({ status: 422 });
      expect((await send('GET', `/categories/${id}`)).status).toBe(404);
      const past = BigInt(id) > 0n ? BigInt('9223372036854775808') : -BigInt('9223372036854775809');
      expect((await send('GET', `/categories/${past}`)).status).toBe(400);
      expect((await send('POST', '/store/orders', `{"petId":${past},"quantity":1}`)).status).toBe(
        400,
      );
    },
  );

  test('a deprecated operation announces its dates and its successor', async () => {
    const response = await gateway.client.get('/pets/1').set(auth());
    expect(response.headers).toMatchObject({
      deprecation: expect.stringMatching(/^@\d{10}$/),
      sunset: expect.stringMatching(/ GMT$/),
      link: expect.stringContaining('rel="successor-version"'),
    });
  });
});

describe('a restart', () => {
  test('finds pets, keys and a half-used quota again', async () => {
    const key = await gateway.key();
    const get = () => gateway.client.get('/pets').set('X-API-Key', key.secret);
    for (let i = 0; i < 30; i++) await get();
    const before = await get();
    await gateway.close();
    await gateway.open();
    const after = await get();
    expect(after.status).toBe(200);
    expect(after.body).toEqual(before.body);
    expect(after.headers['x-ratelimit-remaining']).toBe('28');
    expect(after.headers['x-ratelimit-reset']).toBe(before.headers['x-ratelimit-reset']);
  });
});
