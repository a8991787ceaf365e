/**
 * The longest step of checking hostile bodies of 1 MiB, and the longest stop for a garbage
 * collection, in milliseconds:
 *
 *     node --disable-warning=ExperimentalWarning bench/checks.ts --before main
 *
 * `--before` measures a commit, too, in turns.
 */

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PerformanceObserver } from 'node:perf_hooks';
import { setImmediate as turn } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { loadContract, MediaRule, Operation } from '../packages/openapi/src/index.ts';
import { checkOut } from '../test/support/checkout.ts';
import { bodyOf, KINDS, SCHEMAS } from './checks/kinds.ts';

const RUNS = 6;

interface Measured {
  /** Milliseconds. */
  readonly longest: number;
  readonly collection: number;
  readonly whole: number;
  readonly steps: number;
}

const { values } = parseArgs({
  options: { before: { type: 'string' }, folder: { type: 'string' }, only: { type: 'string' } },
});
const chosen = Object.entries(KINDS).filter(([name]) => name.includes(values.only ?? ''));
if (values.folder === undefined) compare();
else console.log(JSON.stringify(await measure(values.folder)));

function compare(): void {
  const temporary = mkdtempSync(join(tmpdir(), 'storegate-checks-'));
  try {
    const builds = [{ name: 'today', folder: join(import.meta.dirname, '..') }];
    if (values.before !== undefined) builds.unshift(checkOut(values.before, temporary));
    const measured = builds.map(({ folder }): Measured[] => {
      const args = [
        '--disable-warning=ExperimentalWarning',
        import.meta.filename,
        '--folder',
        folder,
      ];
      if (values.only !== undefined) args.push('--only', values.only);
      return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }));
    });
    console.log(
      builds.map(({ name }) => `${name}: longest collection   whole  steps`.padStart(47)).join(''),
    );
    for (const [at, [name]] of chosen.entries()) {
      const cells = measured.map((one) => {
        const { longest, collection, whole, steps } = one[at]!;
        const times = longest.toFixed(1).padStart(21) + collection.toFixed(1).padStart(11);
        return times + whole.toFixed(0).padStart(8) + String(steps).padStart(7);
      });
      console.log(`${cells.join('')}  ${name}`);
    }
  } finally {
    rmSync(temporary, { recursive: true });
  }
}

async function measure(folder: string): Promise<Measured[]> {
  const openapi = (await import(join(folder, 'packages/openapi/src/index.ts'))) as {
    loadContract: typeof loadContract;
  };
  const paths = chosen.map(([, { type, schema, encoding }], i) => {
    const requestBody = { content: { [type]: { schema, encoding } } };
    return [
      `/${i}`,
      { post: { operationId: `${i}`, requestBody, responses: { 204: { description: 'Done.' } } } },
    ];
  });
  const info = { title: 'Bodies', version: '1' };
  const document = {
    openapi: '3.1.0',
    info,
    paths: Object.fromEntries(paths),
    components: { schemas: SCHEMAS },
  };
  const { operations } = openapi.loadContract('bodies.json', { text: JSON.stringify(document) });
  const measured: Measured[] = [];
  for (const [i, [, kind]] of chosen.entries()) {
    const operation: Operation = operations.find(({ id }) => id === `${i}`)!;
    await operation.ready('request');
    const media = operation.body!.media(kind.sent ?? kind.type)!;
    const body = bodyOf(kind);
    measured.push(await timesOf(media, body, kind.faults ?? 0));
  }
  return measured;
}

/**
 * The shortest time of each step in several runs: CPU time is only counted in steps of 4 ms. Of the
 * longest collections of the runs the median.
 */
async function timesOf(media: MediaRule, body: Buffer, faults: number): Promise<Measured> {
  const times: number[] = [];
  const collections: number[] = [];
  const observer = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries())
      collections.push(Math.max(collections.pop()!, duration));
  });
  observer.observe({ entryTypes: ['gc'] });
  for (let run = 0; run < RUNS; run++) {
    collections.push(0);
    // Before it had steps for all bodies, a rule had them for JSON only.
    const checking: Iterator<void, readonly unknown[]> | undefined = (
      media as Partial<MediaRule>
    ).steps?.(body);
    for (let i = 0; ; i++) {
      const start = performance.now();
      const step = checking ? checking.next() : { done: true as const, value: media.check(body) };
      times[i] = Math.min(times[i] ?? Number.POSITIVE_INFINITY, performance.now() - start);
      if (!step.done) continue;
      if (step.value.length !== faults)
        throw new Error(`${step.value.length} faults: ${JSON.stringify(step.value[0])}`);
      break;
    }
    await turn();
    await turn();
  }
  observer.disconnect();
  return {
    longest: Math.max(...times),
    collection: collections.toSorted((a, b) => a - b)[RUNS / 2]!,
    whole: times.reduce((sum, time) => sum + time),
    steps: times.length,
  };
}
