/**
 * CPU of checking hostile bodies of 1 MiB:
 *
 *     node --disable-warning=ExperimentalWarning bench/bodies.ts --before main
 *
 * `--before` measures a commit, too, in turns.
 */

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { loadContract, Operation } from '../packages/openapi/src/index.ts';
import { checkOut } from '../test/support/checkout.ts';
import { spread } from './statistics.ts';

const SIZE = 2 ** 20;
const ROUNDS = 3;
const RUNS = 9;
const ALTERNATIVES = 30;

interface Kind {
  readonly type: string;
  readonly schema: object;
  readonly ends: readonly [string, string];
  readonly separator: string;
  readonly item: (i: number) => string;
  readonly most?: number;
}

const list = (items: object) => ({ type: 'array', items });
const json = { type: 'application/json', ends: ['[', ']'], separator: ',' } as const;
const xml = { type: 'application/xml', ends: ['<a>', '</a>'], separator: '' } as const;
const last = { type: 'integer' };
const objects = Array.from({ length: ALTERNATIVES - 1 }, (_, i) => ({
  type: 'object',
  required: [`a${i}`],
}));
const strings = Array.from({ length: ALTERNATIVES - 1 }, (_, i) => ({
  type: 'string',
  minLength: i + 9,
}));
const named = (schemas: readonly object[]) => ({
  anyOf: schemas.map((_, i) => ({ $ref: `#/components/schemas/S${i}` })),
});

const KINDS: Readonly<Record<string, Kind>> = {
  'anyOf of 30, the last matches': {
    ...json,
    schema: list({ anyOf: [...objects, last] }),
    item: (i) => `${i % 10}`,
  },
  'anyOf of 30 by name': {
    ...json,
    schema: list(named([...objects, last])),
    item: (i) => `${i % 10}`,
  },
  'anyOf of 30, objects': {
    ...json,
    schema: list({ anyOf: [...objects.slice(1), objects[0]] }),
    item: () => '{"a0":0}',
  },
  'anyOf of 30, strings': {
    ...json,
    schema: list({ anyOf: [...strings, { type: 'string' }] }),
    item: () => '"abc"',
  },
  'a form': form({ additionalProperties: { type: 'string' } }),
  'a form of known names': form({
    properties: Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`n${i}`, {}])),
  }),
  'XML, elements': { ...xml, schema: {}, item: () => '<b>12345678901</b>', most: 49_999 },
  'XML, attributes': { ...xml, schema: {}, item: () => `<b${' '.repeat(1)}${attributes(40)}/>` },
  'XML, text': { ...xml, schema: {}, item: () => 'x&lt;' },
};

function form(more: object): Kind {
  const type = 'application/x-www-form-urlencoded';
  return {
    type,
    schema: { type: 'object', ...more },
    ends: ['', ''],
    separator: '&',
    item: (i) => `n${i}=1`,
  };
}

function attributes(count: number): string {
  return Array.from({ length: count }, (_, i) => `c${i}=""`).join(' ');
}

const { values } = parseArgs({
  options: { before: { type: 'string' }, folder: { type: 'string' } },
});
if (values.folder === undefined) compare();
else console.log(JSON.stringify(await measure(values.folder)));

function compare(): void {
  const temporary = mkdtempSync(join(tmpdir(), 'storegate-bodies-'));
  try {
    const builds = [{ name: 'today', folder: join(import.meta.dirname, '..') }];
    if (values.before !== undefined) builds.unshift(checkOut(values.before, temporary));
    const rounds = builds.map(() => [] as number[][]);
    for (let round = 0; round < ROUNDS; round++) {
      for (const [i, { folder }] of builds.entries()) {
        const args = [
          '--disable-warning=ExperimentalWarning',
          import.meta.filename,
          '--folder',
          folder,
        ];
        rounds[i]!.push(JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })));
      }
    }
    console.log(
      [...builds.map(({ name }) => name.padStart(9)), ' ms of CPU for 1 MiB of'].join(''),
    );
    for (const [at, name] of Object.keys(KINDS).entries()) {
      const cells = rounds.map((times) =>
        spread(times.map((time) => time[at]!))
          .median.toFixed(0)
          .padStart(9),
      );
      console.log(`${cells.join('')}  ${name}`);
    }
  } finally {
    rmSync(temporary, { recursive: true });
  }
}

/** Milliseconds, in the order of KINDS. */
async function measure(folder: string): Promise<number[]> {
  const openapi = (await import(join(folder, 'packages/openapi/src/index.ts'))) as {
    loadContract: typeof loadContract;
  };
  const kinds = Object.values(KINDS);
  const paths = kinds.map(({ type, schema }, i) => {
    const requestBody = { content: { [type]: { schema } } };
    return [
      `/${i}`,
      { post: { operationId: `${i}`, requestBody, responses: { 204: { description: 'Done.' } } } },
    ];
  });
  const schemas = Object.fromEntries([...objects, last].map((schema, i) => [`S${i}`, schema]));
  const info = { title: 'Bodies', version: '1' };
  const text = JSON.stringify({
    openapi: '3.0.3',
    info,
    paths: Object.fromEntries(paths),
    components: { schemas },
  });
  const { operations } = openapi.loadContract('bodies.json', { text });
  const times: number[] = [];
  for (const [i, kind] of kinds.entries())
    times.push(await timeOf(operations.find(({ id }) => id === `${i}`)!, kind));
  return times;
}

/** The median in milliseconds. */
async function timeOf(operation: Operation, kind: Kind): Promise<number> {
  await operation.ready('request');
  const media = operation.body!.media(kind.type)!;
  const body = bodyOf(kind);
  const [fault] = media.check(body);
  if (fault) throw new Error(`${operation.id}: ${fault.pointer} ${fault.message}`);
  const times = Array.from({ length: RUNS }, () => {
    const before = process.threadCpuUsage();
    media.check(body);
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1_000;
  });
  return spread(times).median;
}

function bodyOf({
  ends: [start, end],
  separator,
  item,
  most = Number.POSITIVE_INFINITY,
}: Kind): Buffer {
  const items: string[] = [];
  for (let size = start.length + end.length, i = 0; i < most; i++) {
    const text = item(i);
    size += text.length + separator.length;
    if (size > SIZE) break;
    items.push(text);
  }
  return Buffer.from(start + items.join(separator) + end);
}
