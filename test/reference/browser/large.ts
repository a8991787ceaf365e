import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { done } from '../../../packages/openapi/test/documents.ts';
import { folderWith } from '../../config/folder.ts';
import { TestGateway } from '../../support/gateway.ts';
import { Reader } from '../../support/reader.ts';
import type { ReferenceFixture } from './fixture.ts';

const OPERATIONS = 160;
const SCHEMAS = 60;
const ref = (index: number) => ({ $ref: `#/components/schemas/S${index % SCHEMAS}` });

/** Operations of one tag, one without an operationId, and schemas that refer to each other. */
function contract(): object {
  const numbers = [...Array(OPERATIONS).keys()];
  const paths = numbers.map((i) => {
    const content = { 'application/json': { schema: ref(i) } };
    const responses = { 200: { description: 'Good.', content } };
    const get = { operationId: `getItems${i}`, tags: ['Items'], summary: `Items ${i}`, responses };
    return [`/items${i}`, { get }];
  });
  const schemas = numbers.slice(0, SCHEMAS).map((i) => {
    const members = [...Array(12).keys()].map((k) => {
      const text = { type: ['string', 'null'] };
      return [`p${k}`, k % 4 === 0 ? ref(i * 7 + k + 1) : text];
    });
    return [`S${i}`, { type: 'object', properties: Object.fromEntries(members) }];
  });
  return {
    openapi: '3.1.0',
    info: { title: 'Many', version: '1' },
    paths: {
      ...Object.fromEntries(paths),
      '/a-b/{c}': {
        parameters: [{ name: 'c', in: 'path', required: true, schema: { type: 'string' } }],
        delete: { responses: done },
      },
    },
    components: { schemas: Object.fromEntries(schemas) },
  };
}

export function largeTests(fixture: ReferenceFixture): void {
  describe('a reader of a contract with 160 operations and schemas that refer to each other', () => {
    let gateway: TestGateway;
    let page: Page;
    let reader: Reader;
    beforeAll(async () => {
      const folder = folderWith({ 'openapi.json': JSON.stringify(contract()) });
      gateway = await TestGateway.start({
        settings: `contract: {file: "${folder}/openapi.json"}\n`,
        backendUrl: 'http://127.0.0.1:9',
      });
      ({ page } = await fixture.browser.page({ reducedMotion: 'reduce' }));
      reader = new Reader(page);
    });
    afterAll(async () => {
      await page?.context().close();
      await gateway?.stop();
    });

    const summaryOf = (tag: string, id: string) => reader.operation(tag, id).locator('> summary');

    /** The operation is open, in view below the bar, and has the focus. */
    async function isShown(tag: string, id: string): Promise<void> {
      await reader.operation(tag, id).locator('.responses').waitFor();
      const summary = summaryOf(tag, id);
      await summary.and(page.locator(':focus')).waitFor();
      const { y } = (await summary.boundingBox())!;
      expect(y).toBeGreaterThanOrEqual(50);
      expect(y).toBeLessThan(450);
    }

    test('gets to any operation by a link, on a fresh load', async () => {
      await reader.open(gateway.url, '#/Items/getItems150');
      await isShown('Items', 'getItems150');
      expect(await page.locator('.operation').count()).toBe(OPERATIONS + 2);
      expect(await page.locator('.operation[open]').count()).toBe(1);
    });

    test('gets to another by the address bar, and to one without an operationId', async () => {
      await page.goto(`${gateway.url}/docs/#/Items/getItems80`);
      await isShown('Items', 'getItems80');
      await page.goto(`${gateway.url}/docs/#/default/delete_a_b__c_`);
      await isShown('default', 'delete_a_b__c_');
    });

    test('finds an operation by its path, method, summary or id, and gets there', async () => {
      const contents = page.getByRole('navigation', { name: 'Contents' });
      const links = contents.locator('.group a:visible');
      const search = page.getByRole('searchbox', { name: 'Search operations' });
      for (const [text, hits] of [
        ['/items99', 1],
        ['delete', 1],
        ['get ITEMS 15', 12],
        ['getitems42', 1],
        ['nothing', 0],
      ] as const) {
        await search.fill(text);
        expect([text, await links.count()]).toEqual([text, hits]);
      }
      await search.fill('getItems42');
      await links.first().click();
      await isShown('Items', 'getItems42');
      await search.fill('');
      expect(await links.count()).toBe(OPERATIONS + 2);
    });

    test('opens schemas inside of schemas, level by level', async () => {
      const operation = reader.operation('Items', 'getItems42');
      await operation.getByRole('button', { name: 'Schema', exact: true }).click();
      const members = operation.locator('.responses .schema > details');
      for (const depth of [1, 2, 3]) {
        const shown = operation.locator('.responses code', { hasText: 'p8' });
        // A schema is drawn after its heading was opened.
        await shown.nth(depth - 1).waitFor({ state: 'attached' });
        expect(await shown.count()).toBe(depth);
        await members.nth(depth).locator('> summary').click();
      }
    });
  });
}
