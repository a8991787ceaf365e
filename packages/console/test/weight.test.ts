import { brotliDecompressSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import { createConsole } from '../src/index.ts';

const find = createConsole();

async function brotli(path: string): Promise<Buffer> {
  const { headers, body } = (await find(path, { acceptEncoding: 'br' }))!;
  expect([path, headers[headers.indexOf('Content-Encoding') + 1]]).toEqual([path, 'br']);
  return body;
}

/**
 * Everything that the page names: it loads nothing else. The reference has a page and a weight of
 * its own.
 */
async function files(): Promise<string[]> {
  const page = brotliDecompressSync(await brotli('/console/')).toString();
  return [...new Set([...page.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path]) => path!))];
}

test('the console weighs at most 150 KB with all its code, styles and packages, compressed', async () => {
  const sizes = await Promise.all(
    ['/console/', ...(await files())].map(async (path) => (await brotli(path)).length),
  );
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
