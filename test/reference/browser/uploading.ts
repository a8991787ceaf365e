import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { RecordingBackend } from '../../hostile/recording-backend.ts';
import { TestGateway } from '../../support/gateway.ts';
import type { ReferenceFixture } from './fixture.ts';

const item = {
  type: 'object',
  required: ['name', 'photo'],
  properties: {
    name: { type: 'string', maxLength: 3 },
    photo: { type: 'string', format: 'binary', maxLength: 8 },
    owner: { type: 'object', properties: { id: { type: 'integer' } } },
  },
  additionalProperties: false,
};
const DOCUMENT = {
  openapi: '3.0.3',
  info: { title: 'Items', version: '1' },
  tags: [{ name: 'Items' }],
  paths: {
    '/items': {
      post: {
        operationId: 'upload',
        summary: 'Upload an item',
        tags: ['Items'],
        'x-storegate-unchecked-body': true,
        'x-max-body-bytes': 10_000,
        'x-required-scopes': ['items:write', 'a<b>'],
        requestBody: {
          required: true,
          content: {
            'multipart/form-data': { schema: item },
            'application/x-protobuf': { schema: item },
          },
        },
        responses: { 200: { description: 'Good.' } },
      },
    },
  },
};

export function uploadingTests(fixture: ReferenceFixture): void {
  describe('a reader with a file', () => {
    let folder: string;
    let backend: RecordingBackend;
    let gateway: TestGateway;
    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'storegate-uploading-'));
      writeFileSync(join(folder, 'openapi.json'), JSON.stringify(DOCUMENT));
      backend = await RecordingBackend.start();
      gateway = await TestGateway.start({
        backendUrl: backend.url,
        settings: `contract: {file: "${join(folder, 'openapi.json')}"}`,
      });
    });
    afterAll(async () => {
      await gateway?.stop();
      await backend?.close();
      rmSync(folder, { recursive: true });
    });

    test('uploads it in a form that the gateway has checked', async () => {
      const { secret } = await gateway.key({ plan: 'free', scopes: ['a<b>', 'items:write'] });
      const it = await fixture.load(gateway);
      const { page } = it;
      await it.useKey(secret);
      const operation = await it.openOperation('Items', 'upload');
      const said = await operation.textContent();
      expect(said).toContain('Needs a key with the scopes items:write, a<b>.');
      expect(said).toContain('Takes a body of at most 10,000 bytes.');
      expect(said).toContain('Some bodies are not checked.');
      await it.tryIt(operation);
      const send = async (name: string, photo: string) => {
        await operation.locator('tr[data-name="name"] input').fill(name);
        const buffer = Buffer.from(photo, 'latin1');
        await operation
          .locator('input[type=file]')
          .setInputFiles({ name: 'Tür 1.png', mimeType: 'image/png', buffer });
        await operation.locator('tr[data-name="owner"] textarea').fill('{"id":7}');
        const answered = page.waitForResponse('**/items');
        await it.send(operation);
        const response = await answered;
        return [response.status(), await response.text()] as const;
      };
      expect(await send('Tom', '\x89PNG\r\n\0\xff')).toEqual([200, '[]']);
      expect(backend.requests[0]!.body).toContain('\r\n\r\n\x89PNG\r\n\0\xff\r\n--');
      expect(backend.requests[0]!.body).toContain('{"id":7}');
      const [status, text] = await send('Tommy', 'far too long');
      expect([status, backend.requests.length]).toEqual([400, 1]);
      expect(
        JSON.parse(text)
          .details.map(({ pointer }: { pointer: string }) => pointer)
          .sort(),
      ).toEqual(['/name', '/photo']);
    });
  });
}
