import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { done, head } from '../../../packages/openapi/test/documents.ts';
import { folderWith } from '../../config/folder.ts';
import { TestGateway } from '../../support/gateway.ts';
import type { Reader } from '../../support/reader.ts';
import type { ReferenceFixture } from './fixture.ts';

const ids = ['application_id', 'guild_id'].map((name) => ({
  name,
  in: 'path',
  required: true,
  schema: { type: 'string' },
}));
const BASE = '/applications/{application_id}/guilds/{guild_id}';
const operation = (tag: string) => ({ tags: [tag], responses: done });
const CONTRACT = {
  ...head,
  tags: [
    { name: 'Operations', description: 'Opening hours.' },
    { name: 'Events', description: 'Dates.' },
  ],
  paths: {
    [`${BASE}/commands`]: {
      parameters: ids,
      get: operation('Operations'),
      put: operation('Operations'),
    },
    [`${BASE}/emojis`]: { parameters: ids, get: operation('Events') },
  },
};

export function namesTests(fixture: ReferenceFixture): void {
  describe('a reader of a contract with long paths and a tag named Operations', () => {
    let gateway: TestGateway;
    let reader: Reader;
    beforeAll(async () => {
      const folder = folderWith({ 'openapi.json': JSON.stringify(CONTRACT) });
      gateway = await TestGateway.start({
        settings: `contract: {file: "${join(folder, 'openapi.json')}"}\n`,
        backendUrl: 'http://127.0.0.1:9',
      });
      ({ reader } = fixture);
      await reader.open(gateway.url);
    });
    afterAll(() => gateway?.stop());

    test('sees the end of each entry of the contents', async () => {
      const contents = reader.page.getByRole('navigation', { name: 'Contents' });
      const entries = contents.locator('.group a');
      expect(await entries.filter({ hasText: 'emojis' }).count()).toBe(1);
      const cut = await entries.evaluateAll((links) =>
        links.map((link) => link.scrollWidth - link.clientWidth),
      );
      expect(cut).toEqual(cut.map(() => 0));
      expect(await contents.evaluate((nav) => nav.scrollWidth - nav.clientWidth)).toBe(0);
    });

    test('sees the description of the tag once', async () => {
      const drawn = reader.page.locator('#reference');
      const text = (await drawn.textContent())!;
      expect(text.split('Opening hours.')).toHaveLength(2);
      expect(text.split('Dates.')).toHaveLength(2);
    });
  });
}
