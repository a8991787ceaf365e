import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Stand } from '../hostile/stand.ts';
import { TestBrowser } from '../support/browser.ts';
import { Reader } from '../support/reader.ts';

const contract = join(import.meta.dirname, '../contract/fixtures/garden/openapi.yaml');

describe('a reader of a contract in OpenAPI 3.1', () => {
  let browser: TestBrowser;
  let stand: Stand;
  beforeAll(async () => {
    stand = await Stand.start({ settings: `contract: {file: "${contract}"}\n` });
    browser = await TestBrowser.start();
  });
  afterAll(async () => {
    await browser?.stop();
    await stand?.stop();
  });

  async function open() {
    const { page, complaints } = await browser.page();
    const reader = new Reader(page);
    await reader.open(stand.gateway.url);
    return { reader, page, complaints };
  }

  test('sees its schemas, and can reach what is in one', async () => {
    const { reader, page, complaints } = await open();
    const operation = await reader.openOperation('default', 'addPlant');
    await operation.getByRole('tab', { name: 'Schema' }).first().click();
    const schema = operation.locator('.json-schema-2020-12').first();
    await schema.waitFor();
    expect(await schema.textContent()).toMatch(/note\s*string \| null\s*≤ 5 characters/);
    expect(await page.locator('.models').textContent()).toMatch(/height\s*number\s*> 0/);
    expect(await reader.accessibilityFindings('.models .json-schema-2020-12:nth-of-type(2)')).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test('tries an operation', async () => {
    const { reader } = await open();
    await reader.useKey(stand.secret);
    const operation = await reader.openOperation('default', 'addPlant');
    await reader.tryIt(operation);
    await operation.locator('textarea').first().fill('{"name":"rose","note":null}');
    await reader.send(operation);
    expect(stand.store.requests.at(-1)).toMatchObject({
      line: 'POST /plants HTTP/1.1',
      body: '{"name":"rose","note":null}',
    });
  });
});
