/**
 * Gateways with one API, two and a thousand in the same run: start, memory, and CPU of a request in turn
 * on 16 connections to one nginx; and choosing alone, in this process.
 *
 *     node --disable-warning=ExperimentalWarning bench/apis.ts [--requests N] [--rounds N]
 *
 * One of the APIs has the shipped contract, as the gateway outside `apis`; each other one has a contract of ten
 * operations.
 */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createApiFinder } from '../src/gateway/find-api.ts';
import { get, senderOf } from './connection.ts';
import { cpuTime, residentMemory } from './cpu.ts';
import { spread } from './statistics.ts';
import { withSurroundings } from './surroundings.ts';
import { startStoregate } from './targets/storegate-process.ts';
import { compareInTurns, type Series } from './turns.ts';

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '4000' },
    rounds: { type: 'string', default: '7' },
  },
});
const [requests, rounds] = [Number(values.requests), Number(values.rounds)];
const COUNTS = [1, 2, 1_000];
const OPERATIONS = 10;
const LOOKUPS = 1_000_000;

const contractOf = (i: number) => ({
  openapi: '3.1.0',
  info: { title: `API ${i}`, version: '1' },
  paths: Object.fromEntries(
    Array.from({ length: OPERATIONS }, (_, k) => {
      const id = { name: 'id', in: 'path', required: true, schema: { type: 'integer' } };
      const responses = { 200: { description: 'Done.' } };
      return [`/things${k}/{id}`, { get: { operationId: `get${k}`, parameters: [id], responses } }];
    }),
  ),
});

/** Lines of gateway.yaml: besides the API outside `apis`. */
function entriesIn(folder: string, count: number): string[] {
  if (count === 1) return [];
  mkdirSync(folder);
  const entries = Array.from({ length: count - 1 }, (_, i) => {
    const file = join(folder, `${i}.json`);
    writeFileSync(file, JSON.stringify(contractOf(i)));
    const contract = i === 0 ? '../name/openapi.yaml' : file;
    return { name: `api-${i}`, path: `/api-${i}`, contract };
  });
  return [`apis: ${JSON.stringify(entries)}`];
}

await withSurroundings(async (surroundings) => {
  const series: Series[] = [];
  for (const count of COUNTS) {
    const name = `apis-${count}`;
    const { folder } = surroundings.children;
    const more = entriesIn(join(folder, `contracts-${count}`), count).map((line) =>
      line.replace('../name', join(folder, name)),
    );
    const { pid, url, keys } = await startStoregate(name, surroundings, { more });
    const [cpu, memory] = [cpuTime(pid) / 1_000, residentMemory(pid) / 2 ** 20];
    console.log(`${count} APIs: ${cpu} ms of CPU to start, ${memory.toFixed(0)} MiB`);
    const paths = count === 1 ? ['/pets'] : ['/pets', '/api-0/pets'];
    for (const path of paths) {
      const send = senderOf(Number(new URL(url).port), get(path, keys.admitted), requests);
      series.push({ name: `${count} APIs, GET ${path}`, pid, send });
    }
  }
  await compareInTurns(series, rounds);
});

for (const count of COUNTS.slice(1))
  for (const host of [null, 'example.com']) {
    const named = (i: number) => (host === null ? null : `api-${i}.${host}`);
    const places = Array.from({ length: count - 1 }, (_, i) => ({
      host: named(i),
      path: host === null ? `/api-${i}` : '/',
      value: i,
    }));
    const find = createApiFinder([...places, { host: null, path: '/', value: -1 }]);
    const asked = places.map(({ host, path, value }) => {
      const full = `${path === '/' ? '' : path}/things3/17`;
      return [host === null ? 'localhost:8080' : `${host}:8080`, full, value] as const;
    });
    const times = Array.from({ length: rounds + 1 }, () => {
      const before = process.cpuUsage();
      for (let i = 0; i < LOOKUPS; i++) {
        const [sent, path, value] = asked[(i * 617) % asked.length]!;
        if (find(sent, path) !== value) throw new Error(`${sent}${path} is of another API`);
      }
      const { user, system } = process.cpuUsage(before);
      return (user + system) / LOOKUPS;
    });
    const where = host === null ? 'at paths' : 'at hosts';
    console.log(
      `choosing among ${count} APIs ${where}: ${spread(times.slice(1)).median.toFixed(2)} µs`,
    );
  }
