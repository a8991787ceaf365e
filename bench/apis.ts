/**
 * Gateways with one API, two and a thousand in the same run: start, memory, and CPU of a request in turn
 * on 16 connections to one nginx; and choosing alone, in this process.
 *
 *     node --disable-warning=ExperimentalWarning bench/apis.ts [--requests N]
 *
 * One of the APIs has the shipped contract, as the gateway outside `apis`; each other one has a contract of ten
 * operations.
 */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createApiFinder } from '../src/gateway/find-api.ts';
import { cpuTime, residentMemory, total } from './cpu.ts';
import { readOptions } from './options.ts';
import { spread } from './statistics.ts';
import { withSurroundings } from './surroundings.ts';
import { startStoregate } from './targets/storegate-process.ts';
import { compareInTurns, type Series, seriesOf } from './turns.ts';

const { requests } = readOptions({ requests: 4_000 });
const ROUNDS = 7;
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

/** Besides the API outside `apis`. */
function entriesIn(folder: string, count: number): object[] {
  mkdirSync(folder);
  return Array.from({ length: count - 1 }, (_, i) => {
    const file = join(folder, `${i}.json`);
    writeFileSync(file, JSON.stringify(contractOf(i)));
    return { name: `api-${i}`, path: `/api-${i}`, contract: i === 0 ? 'openapi.yaml' : file };
  });
}

await withSurroundings(async (surroundings) => {
  const series: Series[] = [];
  for (const count of COUNTS) {
    const apis = entriesIn(join(surroundings.children.folder, `contracts-${count}`), count);
    const gateway = await startStoregate(`apis-${count}`, surroundings, { settings: { apis } });
    const [cpu, memory] = [cpuTime(gateway.pid) / 1_000, residentMemory(gateway.pid) / 2 ** 20];
    console.log(`${count} APIs: ${cpu} ms of CPU to start, ${memory.toFixed(0)} MiB`);
    const paths = count === 1 ? ['/pets'] : ['/pets', '/api-0/pets'];
    for (const path of paths)
      series.push(seriesOf(`${count} APIs, GET ${path}`, gateway, path, requests));
  }
  await compareInTurns(series, ROUNDS);
});

for (const count of COUNTS.slice(1))
  for (const byHost of [false, true]) {
    const places = Array.from({ length: count - 1 }, (_, value) =>
      byHost
        ? { host: `api-${value}.example.com`, path: '/', value }
        : { host: null, path: `/api-${value}`, value },
    );
    const find = createApiFinder([...places, { host: null, path: '/', value: -1 }]);
    const asked = places.map(({ host, path, value }) => {
      const full = `${path === '/' ? '' : path}/things3/17`;
      return [`${host ?? 'localhost'}:8080`, full, value] as const;
    });
    const times = Array.from({ length: ROUNDS + 1 }, () => {
      const before = process.cpuUsage();
      for (let i = 0; i < LOOKUPS; i++) {
        const [sent, path, value] = asked[(i * 617) % asked.length]!;
        if (find(sent, path) !== value) throw new Error(`${sent}${path} is of another API`);
      }
      return total(process.cpuUsage(before)) / LOOKUPS;
    });
    const { median } = spread(times.slice(1));
    console.log(
      `choosing among ${count} APIs at ${byHost ? 'hosts' : 'paths'}: ${median.toFixed(2)} µs`,
    );
  }
