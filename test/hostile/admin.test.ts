import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Fixture } from './fixture.ts';
import { Wire } from './wire.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await Fixture.start();
});
afterAll(() => fixture.stop());

async function ask(path: string, ...headers: string[]): Promise<number> {
  const wire = await Wire.open(fixture.gateway.adminUrl);
  wire.send(`GET ${path} HTTP/1.1\r\n${headers.map((header) => `${header}\r\n`).join('')}\r\n`);
  const { status } = await wire.answer();
  wire.close();
  return status;
}

describe("the admin listener, which a page in an operator's browser can reach", () => {
  test('binds a loopback address by default', () => {
    expect(fixture.gateway.config.admin.host).toBe('127.0.0.1');
  });

  test.each(['localhost:9901', '127.0.0.1:9901', '[::1]:9901', 'LOCALHOST'])(
    'answers under its own name %s',
    async (host) => {
      expect(await ask('/metrics', `Host: ${host}`)).toBe(200);
    },
  );

  test.each([
    'evil.example',
    'evil.example:9901',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'localhost@evil.example',
  ])('does not answer under a name that was rebound to its address: %s', async (host) => {
    expect(await ask('/metrics', `Host: ${host}`)).toBeGreaterThanOrEqual(400);
    expect(await ask('/health/ready', `Host: ${host}`)).toBeGreaterThanOrEqual(400);
  });

  test.each(['http://evil.example', 'null', 'http://localhost:3000'])(
    'does not answer a page of %s',
    async (origin) => {
      expect(await ask('/metrics', 'Host: localhost:9901', `Origin: ${origin}`)).toBe(403);
    },
  );

  test('requires a Host', async () => {
    expect(await ask('/metrics')).toBe(400);
  });
});
