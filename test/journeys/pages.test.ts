import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Agent, request } from 'undici';
import { carriesTheHeadersOfEveryAnswer } from '../support/expect-headers.ts';
import { TestGateway } from '../support/gateway.ts';

const BROWSER = { 'accept-encoding': 'gzip, deflate, br, zstd' };

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await TestGateway.start();
});
afterAll(() => gateway.stop());

test('twenty readers behind one address may open the reference in the same minute, and return to it', async () => {
  const browser = new Agent({ connections: 8 });
  const ask = async (path: string, headers: Record<string, string> = {}) => {
    const response = await request(gateway.url + path, {
      dispatcher: browser,
      headers: { ...headers, ...BROWSER },
    });
    return {
      status: response.statusCode,
      etag: String(response.headers.etag),
      text: await response.body.text(),
    };
  };
  const page = await gateway.client.get('/docs/');
  const files = [...new Set(page.text.match(/\/docs\/assets\/[^"]+/g))];
  const statuses = new Set<number>();
  for (let person = 0; person < 20; person++) {
    const first = await Promise.all(['/docs/', '/openapi.json', ...files].map((path) => ask(path)));
    const etags = first.slice(0, 2).map(({ etag }) => etag);
    const again = await Promise.all(
      etags.map((etag, i) => ask(['/docs/', '/openapi.json'][i]!, { 'if-none-match': etag })),
    );
    for (const { status } of [...first, ...again]) statuses.add(status);
  }
  await browser.close();
  expect([...statuses]).toEqual([200, 304]);
});

describe('a browser', () => {
  test('gets a preflight response without charge', async () => {
    const response = await gateway.client.options('/pets').set({
      Origin: 'https://shop.example',
      'Access-Control-Request-Method': 'POST',
      'Access-Control-Request-Headers': 'x-api-key, content-type',
    });
    expect(response.status).toBe(204);
    expect(response.headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-headers': 'x-api-key, content-type',
      'access-control-max-age': '600',
    });
    expect(response.headers['access-control-allow-methods']).toContain('POST');
    carriesTheHeadersOfEveryAnswer(response);
  });

  test('from another origin gets no CORS headers if the origins are named', async () => {
    const strict = await TestGateway.start({
      settings: 'cors: {origins: ["https://shop.example"]}',
    });
    const ask = (origin: string) => strict.client.get('/openapi.json').set('Origin', origin);
    expect((await ask('https://shop.example')).headers).toMatchObject({
      'access-control-allow-origin': 'https://shop.example',
      vary: expect.stringContaining('Origin'),
    });
    expect(
      (await ask('https://evil.example')).headers['access-control-allow-origin'],
    ).toBeUndefined();
    await strict.stop();
  });
});
