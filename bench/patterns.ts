import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { compilePattern, type Pattern } from '../packages/openapi/src/patterns/pattern.ts';

/**
 * CPU per character of the patterns in packages/openapi/test/fixtures/patterns.yaml, and of
 * patterns whose automaton has more states than can be remembered.
 */

interface Row {
  readonly pattern: string;
  readonly match: readonly string[];
  readonly differ: readonly string[];
  readonly refused?: string;
}

const LENGTH = 50_000;
const ROUNDS = 10;
const SHOWN = 5;

const HOSTILE: readonly [pattern: string, alphabet: string][] = [
  ['(a|b)*a(a|b){8}c', 'ab'],
  ['(a|b)*a(a|b){250}c', 'ab'],
  ['.*a[ab]{8000}c', 'ab'],
  ['(a|b)*a(?:a|bb?|ab){700}c', 'ab'],
  ['.*a(?:\\b|a|b){40}c', 'ab'],
  ['^(?!.*a.{1000}b$).*a[ab]{1000}c', 'ab'],
  ['(?:a|bc|[abc]a){1,100}d', 'abc'],
  ['(?<=a[ab]{60})(?=[ab]{60}a)(?!.*a[ab]{60}c)\\bx', 'ab'],
  ['(?:\\ba|\\Bb|(?<!a)c){1,30}d', 'abc'],
];

const fixture = join(import.meta.dirname, '../packages/openapi/test/fixtures/patterns.yaml');
const rows = Object.values(
  parse(readFileSync(fixture, 'utf8')) as Record<string, readonly Row[]>,
).flat();

let seed = 1;
function random(): number {
  seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
  return seed / 2_147_483_648;
}

function randomText(alphabet: string): string {
  const characters = [...alphabet];
  return Array.from(
    { length: LENGTH },
    () => characters[Math.floor(random() * characters.length)],
  ).join('');
}

function textsFor({ pattern, match, differ }: Row): string[] {
  const known = [...match, ...differ].filter((text) => text !== '');
  const repeated = [...known, ...known.map((text) => text[0]!)].map((text) =>
    text.repeat(Math.ceil(LENGTH / text.length)),
  );
  return [
    ...repeated,
    ...repeated.map((text) => `${text}\0`),
    randomText(known.join('')),
    randomText(pattern),
  ];
}

/** Over all rounds, because the clock of CPU time is coarse. */
function nanoseconds(pattern: Pattern, text: string): number {
  const before = process.cpuUsage();
  for (let round = 0; round < ROUNDS; round++) pattern.test(text);
  const { user, system } = process.cpuUsage(before);
  return (1000 * (user + system)) / (ROUNDS * text.length);
}

function print(title: string, results: readonly (readonly [string, number])[]): void {
  console.log(`\n${title}, ns per character`);
  for (const [pattern, time] of results)
    console.log(`${time.toFixed(1).padStart(8)}  ${pattern.slice(0, 90)}`);
}

const results = rows
  .filter(({ refused }) => refused === undefined)
  .map((row) => {
    const pattern = compilePattern(row.pattern);
    return [
      row.pattern,
      Math.max(...textsFor(row).map((text) => nanoseconds(pattern, text))),
    ] as const;
  })
  .sort(([, a], [, b]) => b - a);
print(`The slowest of ${results.length} patterns`, results.slice(0, SHOWN));
print(
  'Hostile texts',
  HOSTILE.map(([source, alphabet]) => [
    source,
    nanoseconds(compilePattern(source), randomText(alphabet)),
  ]),
);
