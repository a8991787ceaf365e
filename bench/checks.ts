/**
 * The longest step of checking hostile bodies, in milliseconds of CPU:
 *
 *     node --disable-warning=ExperimentalWarning bench/checks.ts --before main
 *
 * `--before` measures a commit, too, in turns.
 */

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { loadContract, MediaRule, Operation } from '../packages/openapi/src/index.ts';
import { checkOut } from '../test/support/checkout.ts';
import { bodyOf, KINDS, SCHEMAS } from './checks/kinds.ts';
import { spread } from './statistics.ts';

const ROUNDS = 3;
const RUNS = 5;

interface Measured {
  /** Milliseconds: first check of a process, then the median of the others. */
  readonly first: number;
  readonly longest: number;
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
    const rounds = builds.map(() => [] as Measured[][]);
    for (let round = 0; round < ROUNDS; round++) {
      for (const [i, { folder }] of builds.entries()) {
        const args = ['--disable-warning=ExperimentalWarning', import.meta.filename, '--folder', folder];
        if (values.only !== undefined) args.push('--only', values.only);
        rounds[i]!.push(JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })));
      }
    }
    const columns = ['first', 'longest', 'whole', 'steps'] as const;
    console.log(builds.map(({ name }) => columns.map((column) => `${name} ${column}`.padStart(15)).join('')).join(''));
    for (const [at, [name]] of chosen.entries()) {
      const cells = rounds.flatMap((measured) =>
        columns.map((column) => {
          const { median } = spread(measured.map((round) => round[at]![column]));
          return median.toFixed(column === 'steps' ? 0 : 1).padStart(15);
        }),
      );
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
  const paths = chosen.map(([, { type, schema }], i) => {
    const requestBody = { content: { [type]: { schema } } };
    return [`/${i}`, { post: { operationId: `${i}`, requestBody, responses: { 204: { description: 'Done.' } } } }];
  });
  const info = { title: 'Bodies', version: '1' };
  const document = { openapi: '3.1.0', info, paths: Object.fromEntries(paths), components: { schemas: SCHEMAS } };
  const { operations } = openapi.loadContract('bodies.json', { text: JSON.stringify(document) });
  const measured: Measured[] = [];
  for (const [i, [, kind]] of chosen.entries()) {
    const operation: Operation = operations.find(({ id }) => id === `${i}`)!;
    await operation.ready('request');
    const media = operation.body!.media(kind.sent ?? kind.type)!;
    const body = bodyOf(kind);
    const first = timeOf(media, body, kind.faults ?? 0);
    const others = Array.from({ length: RUNS }, () => timeOf(media, body, kind.faults ?? 0));
    const median = (column: 'longest' | 'whole' | 'steps') => spread(others.map((one) => one[column])).median;
    measured.push({
      first: first.longest,
      longest: median('longest'),
      whole: median('whole'),
      steps: median('steps'),
    });
  }
  return measured;
}

function timeOf(media: MediaRule, body: Buffer, faults: number) {
  const checking = media.steps?.(body);
  let [longest, whole, steps] = [0, 0, 0];
  for (;;) {
    const before = process.threadCpuUsage();
    const step = checking ? checking.next() : { done: true as const, value: media.check(body) };
    const { user, system } = process.threadCpuUsage(before);
    const took = (user + system) / 1_000;
    longest = Math.max(longest, took);
    whole += took;
    steps++;
    if (!step.done) continue;
    if (step.value.length !== faults) throw new Error(`${step.value.length} faults: ${JSON.stringify(step.value[0])}`);
    return { longest, whole, steps };
  }
}
