/**
 * CPU of checking one body of 1 MiB, which no other request can interrupt, and of reading its JSON alone. One command:
 *
 *     node --disable-warning=ExperimentalWarning bench/large-bodies.ts
 */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readJson } from '../packages/openapi/src/json.ts';
import { loadedOf } from '../src/run/contracts/loader.ts';
import { readContract } from '../src/run/contracts/read.ts';
import { spread } from './statistics.ts';

const SIZE = 2 ** 20;
const RUNS = 9;
const list = (items: object) => ({ type: 'array', ...items });
const named = {
  type: 'object',
  properties: { id: { type: 'integer', format: 'int64' }, name: { type: 'string', pattern: '^[A-Za-z]+[0-9]*$' } },
};

interface Kind {
  readonly schema: object;
  readonly ends: string;
  readonly item: (i: number) => string;
}

const KINDS: Readonly<Record<string, Kind>> = {
  strings: { schema: list({ items: { type: 'string' } }), ends: '[]', item: (i) => `"https://a/${i}"` },
  numbers: { schema: list({ items: { type: 'number' } }), ends: '[]', item: (i) => `${i % 10}` },
  objects: { schema: list({ items: named }), ends: '[]', item: (i) => `{"id":${i},"name":"Rex${i}"}` },
  'lists, 50 deep': { schema: list({}), ends: '[]', item: () => '['.repeat(50) + ']'.repeat(50) },
  names: { schema: { additionalProperties: { type: 'integer' } }, ends: '{}', item: (i) => `"name${i}":0` },
  'unique objects': { schema: list({ uniqueItems: true }), ends: '[]', item: (i) => `{"a":${i}}` },
};

const folder = mkdtempSync(join(tmpdir(), 'storegate-bodies-'));
try {
  const names = Object.keys(KINDS);
  const paths = names.map((name, i) => {
    const requestBody = { content: { 'application/json': { schema: KINDS[name]!.schema } } };
    return [`/${i}`, { post: { requestBody, responses: { 204: { description: 'Done.' } } } }];
  });
  const file = join(folder, 'openapi.json');
  const info = { title: 'Bodies', version: '1' };
  writeFileSync(file, JSON.stringify({ openapi: '3.0.3', info, paths: Object.fromEntries(paths) }));
  const { operations } = loadedOf(readContract({ file })).contract;
  console.log('1 MiB of            reading ms   check with reading ms');
  for (const [i, name] of names.entries()) {
    const operation = operations.find(({ path }) => path === `/${i}`)!;
    await operation.ready('request');
    const media = operation.body!.media('application/json')!;
    const body = bodyOf(KINDS[name]!);
    if (media.check(body).length > 0) throw new Error(`${name}: the body does not fit its schema`);
    const [reading, check] = [cpuOf(() => readJson(body)), cpuOf(() => media.check(body))];
    console.log(name.padEnd(20) + reading.toFixed(1).padStart(10) + check.toFixed(1).padStart(24));
  }
} finally {
  rmSync(folder, { recursive: true });
}

function bodyOf({ ends, item }: Kind): Buffer {
  const items: string[] = [];
  for (let size = 1, i = 0; size < SIZE; i++) size += items[items.push(item(i)) - 1]!.length + 1;
  return Buffer.from(ends[0] + items.slice(0, -1).join(',') + ends[1]);
}

/** The median in milliseconds. */
function cpuOf(work: () => unknown): number {
  const times = Array.from({ length: RUNS }, () => {
    const before = process.threadCpuUsage();
    work();
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1_000;
  });
  return spread(times).median;
}
