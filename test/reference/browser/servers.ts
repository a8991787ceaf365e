import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { done } from '../../../packages/openapi/test/documents.ts';
import { folderWith } from '../../config/folder.ts';
import { Fixture } from '../../hostile/fixture.ts';
import type { Reader } from '../../support/reader.ts';
import type { ReferenceFixture } from './fixture.ts';

const CONTRACT = {
  openapi: '3.0.3',
  info: { title: 'Shop', version: '1' },
  servers: [{ url: 'https://api.example.com/v1' }],
  paths: {
    '/x': {
      servers: [{ url: 'https://far.example' }],
      get: { operationId: 'a', responses: { ...done, 401: { description: 'Mine.' } } },
    },
  },
};

export function serversTests(fixture: ReferenceFixture): void {
  test('a reader at another host sends requests, and the key, to the host of the API', async () => {
    const folder = folderWith({ 'openapi.json': JSON.stringify(CONTRACT) });
    const contract = join(folder, 'openapi.json');
    // Resolves to the address of the gateway.
    const api = { name: 'local', host: 'localhost', contract };
    const shop = await Fixture.start({ settings: `apis: [${JSON.stringify(api)}]\n` });
    try {
      fixture.complaints.length = 0;
      const { reader } = fixture;
      await reader.page.goto(`${shop.gateway.url}/docs/local/`);
      await reader.useKey(shop.secret);
      const operation = await reader.openOperation('default', 'a');
      await reader.tryIt(operation);
      await reader.send(operation);
      expect(shop.backend.requests.at(-1)).toMatchObject({ line: 'GET /v1/x HTTP/1.1' });
      const url = `http://localhost:${new URL(shop.gateway.url).port}/v1/x`;
      expect(await operation.locator('.snippets pre').textContent()).toContain(url);
      expect(fixture.complaints).toEqual([]);
    } finally {
      await shop.stop();
    }
  });

  describe('a reader of a contract whose servers are elsewhere', () => {
    let shop: Fixture;
    let reader: Reader;
    beforeAll(async () => {
      const folder = folderWith({ 'openapi.json': JSON.stringify(CONTRACT) });
      shop = await Fixture.start({
        settings: `contract: {file: "${join(folder, 'openapi.json')}"}\n`,
      });
      fixture.complaints.length = 0;
      reader = await fixture.load(shop.gateway);
      await reader.useKey(shop.secret);
    });
    afterAll(() => shop?.stop());

    test('sends requests to this gateway, with the prefix, and sees the command with the key header', async () => {
      const operation = await reader.openOperation('default', 'a');
      await reader.tryIt(operation);
      await reader.send(operation);
      expect(shop.backend.requests.at(-1)).toMatchObject({ line: 'GET /v1/x HTTP/1.1' });
      const command = await operation.locator('.snippets pre').textContent();
      expect(command).toContain(`${shop.gateway.url}/v1/x`);
      expect(command).toContain('X-API-Key: YOUR_KEY');
      expect(fixture.complaints).toEqual([]);
    });

    test('reads the usage of the key below the path of this gateway', async () => {
      const operation = await reader.openOperation('Usage', 'getUsage');
      await reader.tryIt(operation);
      await reader.send(operation);
      expect(await operation.locator('.answer').textContent()).toContain('"plan": "free"');
      expect(await operation.locator('.snippets pre').textContent()).toContain(
        `${shop.gateway.url}/v1/usage`,
      );
      expect(fixture.complaints).toEqual([]);
    });
  });
}
