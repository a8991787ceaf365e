import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TestGateway } from '../support/gateway.ts';
import { type FakeBackend, fakeBackend } from '../support/upstream.ts';

let gateway: TestGateway;
let backend: FakeBackend;
let secret: string;

beforeAll(async () => {
  backend = await fakeBackend((request, response) => request.pipe(response.writeHead(200)));
  gateway = await TestGateway.start({
    backendUrl: backend.url,
    settings: `apis: [{ name: files, path: /files, contract: none, stripPath: false, target: "${backend.url}/base" }]`,
    env: { STOREGATE_CONTRACT: 'none' },
  });
  ({ secret } = await gateway.key({ plan: 'free' }));
});
afterAll(async () => {
  await gateway.stop();
  await backend.close();
});

const ask = (path: string, init: RequestInit = {}) =>
  fetch(`${gateway.url}${path}`, { ...init, headers: { 'X-API-Key': secret, ...init.headers } });

describe('without a contract', () => {
  test.each([
    ['GET', '/'],
    ['GET', '/docs/'],
    ['GET', '/openapi.json'],
    ['DELETE', '/a/b%20c?x=1&x=2'],
    ['PROPFIND', '/dav'],
  ])('%s %s reaches the backend', async (method, path) => {
    expect((await ask(path, { method })).status).toBe(200);
    expect(backend.seen.at(-1)).toMatchObject({ method, url: path });
  });

  test('bodies pass as they are', async () => {
    const response = await ask('/any', {
      method: 'POST',
      body: 'not: {json',
      headers: { 'Content-Type': 'text/x' },
    });
    expect(await response.text()).toBe('not: {json');
  });

  test('another API keeps its paths', async () => {
    expect((await ask('/files/a')).status).toBe(200);
    expect(backend.seen.at(-1)!.url).toBe('/base/files/a');
  });

  test('keys and limits hold for every path', async () => {
    const before = backend.seen.length;
    expect((await fetch(`${gateway.url}/docs/`)).status).toBe(401);
    expect((await fetch(`${gateway.url}/any`)).status).toBe(401);
    expect((await ask('/usage')).status).toBe(200);
    expect(backend.seen.length).toBe(before);
    const { secret: other } = await gateway.key({ plan: 'free' });
    const statuses = [];
    for (let i = 0; i < 61; i++)
      statuses.push((await ask(`/any/${i}`, { headers: { 'X-API-Key': other } })).status);
    expect([statuses.lastIndexOf(200), statuses[60]]).toEqual([59, 429]);
  });

  test('the status of the gateway says so', async () => {
    const { body } = await gateway.admin.get('/status');
    expect(body.gateways[0].configuration.contract).toBe('none');
  });

  test('metrics name what no contract describes', async () => {
    const { text } = await gateway.admin.get('/metrics');
    expect(text).toMatch(/storegate_requests_total\{[^}]*operation="undescribed"/);
  });
});
