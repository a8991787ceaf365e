/**
 * CPU of a browser that draws the API reference, beside plain Swagger UI with the same document and
 * Content-Security-Policy; the own page once more with a document, and URLs of other pages with it:
 *
 *     node --disable-warning=ExperimentalWarning bench/reference.ts [FILE [URL …]]
 */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { createContent } from '@storegate/pages';
import { TestGateway } from '../test/support/gateway.ts';
import { Drawer, type Drawing } from './drawing.ts';
import { spread } from './statistics.ts';

interface Subject {
  readonly name: string;
  readonly url: string;
  readonly drawings: (Drawing | null)[];
}

const ROUNDS = 3;
/** Seconds of CPU. */
const MOST = 300;
const OPERATIONS = 160;
const SCHEMAS = 60;

const PLAIN_PAGE = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>API</title>
<link rel="stylesheet" href="/swagger-ui.css"><script src="/swagger-ui-bundle.js" defer></script>
<script src="/start.js" defer></script></head><body><main></main></body></html>`;
const START = `SwaggerUIBundle({
  url: '/openapi.json', domNode: document.querySelector('main'), deepLinking: true, validatorUrl: null,
});`;

const [given, ...urls] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'storegate-reference-'));
const drawer = await Drawer.start();
try {
  console.log('| document | page | CPU s: median | min | max | × | heap MB |');
  console.log('|---|---|--:|--:|--:|--:|--:|');
  await compare(join(import.meta.dirname, '../config/openapi.yaml'));
  await compare(written('operations.json', manyOperations()));
  await compare(written('schemas.json', schemaMesh()));
  if (given !== undefined) await compare(resolve(given), urls);
} finally {
  await drawer.stop();
  rmSync(folder, { recursive: true });
}

async function compare(file: string, others: readonly string[] = []): Promise<void> {
  const settings = `contract: { file: ${JSON.stringify(file)}, onUnsupported: pass }\n`;
  const gateway = await TestGateway.start({ settings, backendUrl: 'http://127.0.0.1:9' });
  const own = `${gateway.url}/docs/`;
  const policy = (await fetch(own)).headers.get('content-security-policy')!;
  const document = await (await fetch(`${gateway.url}/openapi.json`)).text();
  const plain = await servePlain(document, policy);
  const subjects: Subject[] = [plain.url, own, ...others].map((url, i) => ({
    name: ['swagger-ui-dist', 'storegate'][i] ?? url,
    url,
    drawings: [],
  }));
  const isDrawn = shows(Object.keys(JSON.parse(document).paths));
  for (let round = 0; round < ROUNDS; round++)
    for (const { url, drawings } of subjects)
      drawings.push(await drawer.draw(url, isDrawn, { most: MOST }));
  print(basename(file), subjects);
  plain.close();
  await gateway.stop();
}

/** The table of contents, which a server may render, is outside `main`. */
function shows(paths: readonly string[]): string {
  return `(() => {
    const text = document.querySelector('main')?.textContent.replaceAll('\\u200b', '') ?? '';
    return ${JSON.stringify(paths)}.some((path) => text.includes(path));
  })()`;
}

async function servePlain(
  document: string,
  policy: string,
): Promise<{ readonly url: string; close(): void }> {
  const { resolve } = createRequire(import.meta.url);
  const read = (name: string) => () => readFileSync(resolve(`swagger-ui-dist/${name}`));
  const contents = new Map([
    ['/', createContent('text/html', () => PLAIN_PAGE)],
    ['/start.js', createContent('text/javascript', () => START)],
    ['/openapi.json', createContent('application/json', () => document)],
    ['/swagger-ui.css', createContent('text/css', read('swagger-ui.css'))],
    ['/swagger-ui-bundle.js', createContent('text/javascript', read('swagger-ui-bundle.js'))],
  ]);
  const server = createServer(async (request, response) => {
    const content = contents.get(request.url!);
    if (content === undefined) return response.writeHead(404).end();
    const acceptEncoding = request.headers['accept-encoding'] as string;
    const page = await content({ acceptEncoding }, ['Content-Security-Policy', policy]);
    response.writeHead(page.status, [...page.headers]).end(page.body);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, close: () => server.close() };
}

function print(document: string, subjects: readonly Subject[]): void {
  const unit = medianOf(subjects[0]!);
  for (const subject of subjects) {
    const drawn = subject.drawings.filter((drawing) => drawing !== null);
    const missing = subject.drawings.length - drawn.length;
    if (missing > 0) {
      console.log(`| ${document} | ${subject.name} | not drawn in ${missing} rounds | | | | |`);
      continue;
    }
    const { min, median, max } = spread(drawn.map(({ cpu }) => cpu));
    const heap = spread(drawn.map(({ heap }) => heap / 1e6)).median;
    const cells = [median, min, max].map((value) => value.toFixed(2));
    const ratio = unit === null ? '' : (median / unit).toFixed(2);
    console.log(`| ${[document, subject.name, ...cells, ratio, heap.toFixed(0)].join(' | ')} |`);
  }
}

function medianOf({ drawings }: Subject): number | null {
  const drawn = drawings.filter((drawing) => drawing !== null);
  return drawn.length < drawings.length ? null : spread(drawn.map(({ cpu }) => cpu)).median;
}

function written(name: string, document: object): string {
  const file = join(folder, name);
  writeFileSync(file, JSON.stringify(document));
  return file;
}

/** One tag with so many operations that Swagger UI draws them while a reader scrolls. */
function manyOperations(): object {
  const paths = Array.from({ length: OPERATIONS }, (_, i) => {
    const responses = { 200: { description: 'Done.' } };
    const get = { operationId: `get${i}`, tags: ['Items'], summary: `Items ${i}`, responses };
    return [`/items${i}`, { get }];
  });
  return {
    openapi: '3.0.3',
    info: { title: 'Operations', version: '1' },
    tags: [{ name: 'Items' }],
    paths: Object.fromEntries(paths),
  };
}

/** Each schema refers to three others. */
function schemaMesh(): object {
  const reference = (i: number) => ({ $ref: `#/components/schemas/S${i % SCHEMAS}` });
  const content = (i: number) => ({ 'application/json': { schema: reference(i) } });
  const numbers = Array.from({ length: SCHEMAS }, (_, i) => i);
  const paths = numbers.map((i) => {
    const responses = { 200: { description: 'Done.', content: content(i + 1) } };
    const post = { operationId: `op${i}`, requestBody: { content: content(i) }, responses };
    return [`/thing${i}`, { post }];
  });
  const schemas = numbers.map((i) => {
    const properties = Array.from({ length: 12 }, (_, k) => [
      `p${k}`,
      k % 4 === 0 ? reference(i * 7 + k + 1) : { type: ['string', 'null'] },
    ]);
    return [`S${i}`, { type: 'object', properties: Object.fromEntries(properties) }];
  });
  return {
    openapi: '3.1.0',
    info: { title: 'Schemas', version: '1' },
    paths: Object.fromEntries(paths),
    components: { schemas: Object.fromEntries(schemas) },
  };
}
