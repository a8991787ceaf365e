import type { IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TestGateway } from '../support/gateway.ts';
import { type FakeBackend, fakeBackend } from '../support/upstream.ts';

let gateway: TestGateway;
let backend: FakeBackend;
let secret: string;
let id: string;
let caching: Record<string, string> = {};

beforeAll(async () => {
  backend = await fakeBackend((_request, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json', ...caching }).end('[]');
  });
  gateway = await TestGateway.start({ backendUrl: `${backend.url}/base` });
  ({ secret, id } = await gateway.key({ plan: 'business', account: 'zoo' }));
});
afterAll(async () => {
  await gateway.stop();
  await backend.close();
});

async function seenBy(
  headers: Record<string, string>,
  path = '/pets?limit=3',
): Promise<IncomingMessage> {
  await fetch(`${gateway.url}${path}`, { headers: { 'X-API-Key': secret, ...headers } }).then(
    (response) => response.text(),
  );
  return backend.seen.at(-1)!;
}

describe('an answer to a key', () => {
  const asked = (path: string) =>
    fetch(`${gateway.url}${path}`, { headers: { 'X-API-Key': secret } });

  test('is private to it if the backend sets no cache header', async () => {
    const { headers } = await asked('/pets');
    expect(headers.get('cache-control')).toBe('private');
    expect(headers.get('vary')).toBe('X-API-Key, Authorization');
  });

  test('has the cache header of the backend otherwise', async () => {
    caching = { 'Cache-Control': 'public, max-age=60', Vary: 'Accept' };
    const { headers } = await asked('/pets');
    caching = {};
    expect(headers.get('cache-control')).toBe('public, max-age=60');
    expect(headers.get('vary')).toBe('Accept');
  });
});

describe('the backend', () => {
  test('gets path and query under its base path', async () => {
    expect((await seenBy({})).url).toBe('/base/pets?limit=3');
  });

  test('gets the identity of the client, and never the key', async () => {
    const { headers, rawHeaders } = await seenBy({ Authorization: `Bearer ${secret}` });
    expect(headers).toMatchObject({
      'x-storegate-key-id': id,
      'x-storegate-account': 'zoo',
      'x-storegate-plan': 'business',
    });
    expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    expect(headers.authorization).toBeUndefined();
    expect(rawHeaders.join()).not.toContain(secret);
  });
});

describe('behind a trusted proxy', () => {
  test('the chain of addresses is kept and the client found in it', async () => {
    const trusting = await TestGateway.start({
      backendUrl: backend.url,
      settings: 'http: {trustedProxies: [127.0.0.0/8]}',
    });
    const key = await trusting.key();
    await fetch(`${trusting.url}/pets`, {
      headers: {
        'X-API-Key': key.secret,
        'X-Forwarded-For': '6.6.6.6, 198.51.100.7',
        'X-Forwarded-Proto': 'https',
        'X-Forwarded-Host': 'api.example',
      },
    }).then((response) => response.text());
    expect(backend.seen.at(-1)!.headers).toMatchObject({
      'x-forwarded-for': '6.6.6.6, 198.51.100.7, 127.0.0.1',
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'api.example',
    });
    expect(trusting.log.find((line) => line.msg === 'request')).toMatchObject({
      address: '198.51.100.7',
    });
    await trusting.stop();
  });
});
