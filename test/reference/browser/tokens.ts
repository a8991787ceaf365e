import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { done } from '../../../packages/openapi/test/documents.ts';
import { folderWith } from '../../config/folder.ts';
import { Fixture } from '../../hostile/fixture.ts';
import { Reader } from '../../support/reader.ts';
import type { ReferenceFixture } from './fixture.ts';

const CONTRACT = {
  openapi: '3.0.3',
  info: { title: 'Shop', version: '1' },
  servers: [{ url: 'https://api.example/v1' }, { url: 'https://api.example/v2' }],
  security: [{ login: [], session: [] }],
  components: {
    securitySchemes: {
      login: { type: 'http', scheme: 'basic' },
      session: { type: 'apiKey', in: 'cookie', name: 'sid' },
    },
  },
  paths: {
    '/things/{id}': {
      get: {
        operationId: 'getThing',
        parameters: [
          { name: 'id', in: 'path', required: true, schema: { type: 'integer', format: 'int64' } },
          { name: 'ids', in: 'query', schema: { type: 'array', items: { type: 'integer' } } },
          { name: 'where', in: 'query', style: 'deepObject', schema: { type: 'object' } },
        ],
        responses: done,
      },
    },
  },
};

export function tokensTests(fixture: ReferenceFixture): void {
  describe('a reader of an API that has a token of its own', () => {
    let shop: Fixture;
    let reader: Reader;
    let complaints: string[];
    beforeAll(async () => {
      const folder = folderWith({ 'openapi.json': JSON.stringify(CONTRACT) });
      shop = await Fixture.start({
        settings: `contract: {file: "${folder}/openapi.json", serverPath: prefix}\n`,
      });
      const { page, complaints: own } = await fixture.browser.page({ reducedMotion: 'reduce' });
      complaints = own;
      reader = new Reader(page);
      await reader.open(shop.gateway.url);
      await reader.page.getByLabel('login, a token of the API itself').fill('me:pässword');
      await reader.page.getByLabel('session, a token of the API itself').fill('s1');
      await reader.useKey(shop.secret);
    });
    afterAll(async () => {
      await reader?.page.context().close();
      await shop?.stop();
    });

    const lastRequest = () => shop.backend.requests.at(-1)!;

    test('sends key and token with identifiers that keep every digit, below the chosen server', async () => {
      await reader.page.getByRole('button', { name: '/v2' }).click();
      const operation = await reader.openOperation('default', 'getThing');
      await reader.tryIt(operation);
      await operation.getByLabel('id', { exact: true }).fill('9007199254740993');
      await operation.getByLabel('ids').fill('1\n9007199254740993');
      await operation.getByLabel('where').fill('{"big":9007199254740993,"name":"a b"}');
      await reader.send(operation);
      const { line, headers } = lastRequest();
      expect(line).toBe(
        'GET /v2/things/9007199254740993?ids=1&ids=9007199254740993&where%5Bbig%5D=9007199254740993&where%5Bname%5D=a%20b HTTP/1.1',
      );
      const sent = Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value]));
      expect(sent.authorization).toBe(`Basic ${Buffer.from('me:pässword').toString('base64')}`);
      expect(sent.cookie).toBe('sid=s1');
      expect(await reader.page.evaluate('document.cookie')).toBe('');
      expect(complaints).toEqual([]);
    });

    test('copies code with the key in it, and sees placeholders', async () => {
      const { page } = reader;
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      const operation = await reader.openOperation('default', 'getThing');
      const code = operation.locator('.snippets');
      for (const language of ['JavaScript', 'Python', 'curl']) {
        await code.getByRole('button', { name: language }).click();
        const shown = (await code.locator('pre').textContent())!;
        expect(shown).toContain('YOUR_KEY');
        expect(shown).toContain('/v2/things/9007199254740993');
        await code.getByRole('button', { name: 'Copy' }).click();
        await code.getByRole('button', { name: 'Copied' }).waitFor();
        const copied = await page.evaluate('navigator.clipboard.readText()');
        expect(copied).toContain(shop.secret);
        expect(copied).not.toContain('YOUR_');
      }
      expect(await page.content()).not.toContain(shop.secret);
    });

    test('sees why the gateway refuses a key, and how to correct it', async () => {
      await reader.useKey(shop.secret.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a')));
      expect(await reader.page.locator('#key-note').textContent()).toContain(
        'The gateway refuses it: The API key is not valid.',
      );
      const operation = await reader.openOperation('default', 'getThing');
      await reader.send(operation);
      await operation.locator('.answer').getByRole('link', { name: 'invalid_api_key' }).click();
      await reader.page.waitForURL(/#errors-invalid_api_key$/);
    });
  });
}
