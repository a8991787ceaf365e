import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { done, head } from '../../../packages/openapi/test/documents.ts';
import { folderWith } from '../../config/folder.ts';
import { TestGateway } from '../../support/gateway.ts';
import { Reader } from '../../support/reader.ts';
import { type FakeBackend, fakeBackend } from '../../support/upstream.ts';
import type { ReferenceFixture } from './fixture.ts';

const WORD = 'Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichenverordnung';
const json = (schema: object) => ({ content: { 'application/json': { schema } } });

const CONTRACT = {
  ...head,
  info: {
    title: WORD,
    version: '1',
    description: '| item | price |\n|:--|--:|\n| tea | 2 |',
  },
  security: [{ query: [] }],
  paths: {
    '/items': { get: { operationId: 'listItems', summary: WORD, responses: done } },
    '/items/{id}': {
      parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
      get: { operationId: 'getItem', responses: done },
    },
    '/orders': {
      post: {
        operationId: 'order',
        requestBody: {
          required: true,
          ...json({
            type: 'object',
            required: ['code', 'note', 'kind'],
            properties: {
              code: { type: 'string', pattern: '^[XY]{7}-[QZ]$' },
              note: { type: 'string', minLength: 150 },
            },
            additionalProperties: { type: 'integer', minimum: 3 },
          }),
        },
        responses: done,
      },
    },
  },
  components: { securitySchemes: { query: { type: 'apiKey', in: 'query', name: 'key' } } },
};

const LOGO =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><script>alert(1)</script></svg>';

export function ownApiTests(fixture: ReferenceFixture): void {
  describe('a reader of an API without tags', () => {
    let backend: FakeBackend;
    let gateway: TestGateway;
    let it: Reader;
    beforeAll(async () => {
      const folder = folderWith({
        'openapi.json': JSON.stringify(CONTRACT),
        'logo.svg': LOGO,
        'hello.md': '**Welcome** to <b>us</b>.',
      });
      backend = await fakeBackend((_request, response) => response.end('{}'));
      gateway = await TestGateway.start({
        settings: JSON.stringify({
          contract: { file: join(folder, 'openapi.json') },
          reference: {
            title: 'Our shop',
            logo: join(folder, 'logo.svg'),
            introduction: join(folder, 'hello.md'),
          },
        }),
        backendUrl: backend.url,
      });
      it = fixture.reader;
      fixture.complaints.length = 0;
      await it.open(gateway.url);
      await it.useKey((await gateway.key({ plan: 'business' })).secret);
    });
    afterAll(async () => {
      await gateway?.stop();
      await backend?.close();
    });

    test('sees the title, logo and introduction of the settings, under the same policy', async () => {
      const { page } = it;
      expect(await page.title()).toBe('Our shop · API reference');
      expect(await page.locator('h1').textContent()).toBe('Our shop');
      expect(await page.locator('.about').textContent()).toMatch(/^Welcome to\s+us/);
      const logo = page.locator('.brand img');
      expect(await logo.evaluate((image: { complete: boolean }) => image.complete)).toBe(true);
      const image = await fetch(`${gateway.url}/docs/logo`);
      expect(image.headers.get('Content-Type')).toBe('image/svg+xml; charset=utf-8');
      expect(image.headers.get('Content-Security-Policy')).toMatch(/default-src 'none'.*sandbox$/);
      expect(fixture.complaints).toEqual([]);
    });

    test('sees no heading for operations without a tag', async () => {
      const { page } = it;
      expect(await page.locator('.tag-group > h3').allTextContents()).toEqual(['Usage']);
      expect(await page.locator('nav .tag > p').allTextContents()).toEqual(['Usage']);
      expect(await it.operation('default', 'listItems').count()).toBe(1);
    });

    test('sees columns of a table as the author aligned them', async () => {
      const cells = it.page.locator('.about td');
      const aligned = await cells.evaluateAll((all) =>
        all.map((cell) => (globalThis as never as Styled).getComputedStyle(cell).textAlign),
      );
      expect(aligned).toEqual(['left', 'right']);
    });

    test('sends the key of the API in the query, and it reaches the backend', async () => {
      await it.page.getByLabel('query, a token of the API itself').fill('of the API');
      await it.page.getByRole('button', { name: 'Use this key' }).click();
      const operation = await it.openOperation('default', 'listItems');
      await it.tryIt(operation);
      await it.send(operation);
      expect(await operation.locator('.answer').textContent()).toContain('Response 200');
      expect(backend.seen.at(-1)!.url).toBe('/items?key=of%20the%20API');
    });

    test('reads which field is needed if nothing was sent', async () => {
      const operation = await it.openOperation('default', 'getItem');
      await it.tryIt(operation);
      await operation.locator('.execute').click();
      expect(await operation.getByRole('alert').textContent()).toBe(
        'Nothing was sent. Fill in: id',
      );
      await operation.getByLabel('id').fill('7');
      await it.send(operation);
      expect(await operation.getByRole('alert').count()).toBe(0);
    });

    test('reads what the example of a body lacks, until nothing is missing', async () => {
      const operation = await it.openOperation('default', 'order');
      await it.tryIt(operation);
      const missing = operation.locator('.missing');
      expect(await missing.locator('li').allTextContents()).toEqual([
        '/code matches ^[XY]{7}-[QZ]$',
      ]);
      const body = operation.getByLabel('Request body');
      const example = JSON.parse(await body.inputValue());
      expect(example).toMatchObject({ note: expect.stringMatching(/^.{150}$/), kind: 3 });
      await body.fill(JSON.stringify({ ...example, code: 'XXXXXXX-Q' }));
      expect(await missing.count()).toBe(0);
      await it.send(operation);
      expect(await operation.locator('.answer').textContent()).toContain('Response 200');
    });

    test('with a phone scrolls in one direction only', async () => {
      const { page } = await fixture.browser.page({ viewport: { width: 390, height: 800 } });
      const phone = new Reader(page);
      await phone.open(gateway.url);
      await phone.openOperation('default', 'listItems');
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
      await page.context().close();
    });
  });
}

interface Styled {
  getComputedStyle(element: object): { readonly textAlign: string };
}
