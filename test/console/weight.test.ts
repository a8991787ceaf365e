import { brotliDecompressSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { request } from 'undici';
import { TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await TestGateway.start();
});
afterAll(() => gateway.stop());

async function brotli(path: string): Promise<Buffer> {
  const { body, headers } = await request(gateway.adminUrl + path, { headers: { 'accept-encoding': 'br' } });
  expect([path, headers['content-encoding']]).toEqual([path, 'br']);
  return Buffer.from(await body.arrayBuffer());
}

/** Everything that the page names: it loads nothing else. The reference has a page and a weight of its own. */
async function files(): Promise<string[]> {
  const page = brotliDecompressSync(await brotli('/console/')).toString();
  return [...new Set([...page.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path]) => path!))];
}

test('the console weighs at most 150 KB with all its code, styles and packages, compressed', async () => {
  const sizes = await Promise.all(['/console/', ...(await files())].map(async (path) => (await brotli(path)).length));
  expect(sizes.length).toBeGreaterThan(20);
  expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(150 * 1_024);
});

test('every module that a module of the console imports is among them, so that the browser asks for all at once', async () => {
  const paths = await files();
  for (const path of paths.filter((path) => path.endsWith('.ts'))) {
    const text = brotliDecompressSync(await brotli(path)).toString();
    const relative = [...text.matchAll(/from ['"](\.[^'"]+)['"]/g)].map(
      ([, to]) => new URL(to!, `http://x${path}`).pathname,
    );
    expect([path, relative.filter((to) => !paths.includes(to))]).toEqual([path, []]);
  }
});
