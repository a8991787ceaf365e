import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { Fixture } from '../../hostile/fixture.ts';
import type { Reader } from '../../support/reader.ts';
import type { ReferenceFixture } from './fixture.ts';

const contract = join(
  import.meta.dirname,
  '../../../packages/openapi/test/fixtures/garden/openapi.yaml',
);

export function jsonSchemaTests(fixture: ReferenceFixture): void {
  describe('a reader of a contract in OpenAPI 3.1', () => {
    let garden: Fixture;
    let page: Page;
    let reader: Reader;
    beforeAll(async () => {
      garden = await Fixture.start({ settings: `contract: {file: "${contract}"}\n` });
      fixture.complaints.length = 0;
      reader = await fixture.load(garden.gateway);
      ({ page } = reader);
    });
    afterAll(() => garden?.stop());

    test('sees its schemas, and can reach the content of each', async () => {
      const operation = await reader.openOperation('default', 'addPlant');
      await operation.getByRole('button', { name: 'Schema' }).first().click();
      const schema = operation.locator('.request-body .schema').first();
      await schema.waitFor();
      expect(await schema.textContent()).toMatch(/note\s*string \| null\s*≤ 5 characters/);
      const components = page.locator('.component');
      for (const summary of await components.locator('> summary').all()) await summary.click();
      const texts = (await components.allTextContents()).join();
      expect(texts).toMatch(/height\s*number\s*> 0/);
      expect(await reader.accessibilityFindings('.schemas')).toEqual([]);
      expect(fixture.complaints).toEqual([]);
    });

    test('tries an operation', async () => {
      await reader.useKey(garden.secret);
      const operation = reader.operation('default', 'addPlant');
      await reader.tryIt(operation);
      await operation.locator('textarea').first().fill('{"name":"rose","note":null}');
      await reader.send(operation);
      expect(garden.backend.requests.at(-1)).toMatchObject({
        line: 'POST /plants HTTP/1.1',
        body: '{"name":"rose","note":null}',
      });
    });
  });
}
