import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { KIND_NAMES } from '../src/limits/kinds.ts';

const root = resolve(import.meta.dirname, '..');
const source = join(root, 'src');

interface Import {
  /** Path below src, such as `gateway/pipeline.ts`. */
  readonly from: string;
  /** Path below src for our own modules, the bare name for packages and Node's. */
  readonly to: string;
  readonly typeOnly: boolean;
}

const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
const imports = files.flatMap(importsOf);

function importsOf(file: string): Import[] {
  const text = readFileSync(join(source, file), 'utf8');
  const statements = text.matchAll(/^(?:import|export)\b(?:(?<clause>[^'";]*?)\bfrom)?\s*'(?<name>[^']+)'/gm);
  return [...statements].map(({ groups }) => ({
    from: file,
    to: groups!.name!.startsWith('.') ? relative(source, resolve(source, file, '..', groups!.name!)) : groups!.name!,
    typeOnly: (groups!.clause ?? '').trimStart().startsWith('type '),
  }));
}

function offenders(isOffence: (one: Import) => boolean): string[] {
  return imports.filter(isOffence).map(({ from, to }) => `${from} imports ${to}`);
}

const inside = (folder: string) => (path: string) => path.startsWith(`${folder}/`);

describe('the walls of the house', () => {
  test('are looked at: the walk over the sources finds imports', () => {
    expect(imports.length).toBeGreaterThan(100);
  });

  test('only the command line knows the store, which can be deleted', () => {
    const store = inside('store');
    expect(offenders(({ from, to }) => store(to) && !store(from) && !inside('cli')(from))).toEqual([]);
  });

  test('the store knows nothing of the gateway', () => {
    const store = inside('store');
    expect(offenders(({ from, to }) => store(from) && to.endsWith('.ts') && !store(to))).toEqual([]);
  });

  test('the command line does not reach into the stages', () => {
    expect(offenders(({ from, to }) => inside('cli')(from) && inside('gateway/stages')(to))).toEqual([]);
  });

  test('only the Redis state knows ioredis', () => {
    expect(offenders(({ from, to }) => to === 'ioredis' && !inside('state/redis')(from))).toEqual([]);
  });

  test('what handles an outage knows no backend, and backends do not know each other', () => {
    const backends = ['state/embedded', 'state/redis'].map(inside);
    expect(offenders(({ from, to }) => inside('state/shared')(from) && backends.some((one) => one(to)))).toEqual([]);
    expect(
      offenders(({ from, to }) => backends.some((one) => one(from)) && backends.some((one) => one(to) && !one(from))),
    ).toEqual([]);
  });

  test('the rules of limits have no side effects: they import nothing but each other', () => {
    expect(offenders(({ from, to }) => inside('limits')(from) && !inside('limits')(to))).toEqual([]);
  });

  test('only the table of kinds tells kinds of windows apart: all others ask it what they want to know', () => {
    const kind = `['"\`](${KIND_NAMES.join('|')})['"\`]`;
    const comparison = new RegExp(`[!=]==?\\s*${kind}|${kind}\\s*[!=]==?|\\bcase\\s+${kind}`);
    const comparing = files.filter((file) => comparison.test(readFileSync(join(source, file), 'utf8')));
    expect(comparing).toEqual([join('limits', 'kinds.ts')]);
  });

  test('only the workers know that there are several processes, and only the command line knows the workers', () => {
    const workers = inside('workers');
    expect(offenders(({ from, to }) => /^(node:)?(cluster|child_process)$/.test(to) && !workers(from))).toEqual([]);
    expect(offenders(({ from, to }) => workers(to) && !workers(from) && !inside('cli')(from))).toEqual([]);
    expect(offenders(({ from, to }) => workers(from) && (inside('cli')(to) || inside('store')(to)))).toEqual([]);
  });

  test('stages do not write answers: that is for reply/', () => {
    const stages = files.filter((file) => inside('gateway/stages')(file) && !file.endsWith('forward.ts'));
    expect(
      stages.filter((file) => /response\.(end|writeHead|write)\(/.test(readFileSync(join(source, file), 'utf8'))),
    ).toEqual([]);
  });

  test('the own paths of the gateway are written once', () => {
    const others = files.filter((file) => !inside('admin')(file) && file !== 'common/own-paths.ts');
    const spelled = /(['"`}\s])\/(openapi\.(json|yaml)|docs\/?|usage)(?=['"`\s?;,])/;
    expect(others.filter((file) => spelled.test(readFileSync(join(source, file), 'utf8')))).toEqual([]);
  });

  test('no key prefix of Redis is written outside the Redis state', () => {
    const outside = files.filter((file) => !inside('state/redis')(file));
    expect(outside.filter((file) => /['"`]sg:/.test(readFileSync(join(source, file), 'utf8')))).toEqual([]);
  });
});
