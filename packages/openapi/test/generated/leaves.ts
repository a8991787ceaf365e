import fc from 'fast-check';
import type { Json } from './document.ts';
import type { Random } from './random.ts';

const FORMATS: Readonly<Record<string, readonly string[]>> = {
  date: ['2024-02-29', '1999-12-31'],
  'date-time': ['2024-02-29T23:59:59Z', '2026-01-01T00:00:00.123+02:00'],
  time: ['12:30:00Z', '23:59:59+01:00'],
  duration: ['P1DT2H', 'PT5M'],
  email: ['a@example.com', 'first.last+tag@sub.example.org'],
  hostname: ['example.com', 'a-b.c1.example'],
  ipv4: ['192.0.2.1', '0.0.0.0'],
  ipv6: ['2001:db8::1', '::ffff:192.0.2.1'],
  uri: ['https://example.com/a?b=c#d', 'urn:isbn:0451450523'],
  'uri-reference': ['/a/b?c', 'https://example.com/'],
  'uri-template': ['https://example.com/{id}', '/a{?b}'],
  'json-pointer': ['/a/b', ''],
  regex: ['^a+$', '[0-9]'],
  uuid: ['123e4567-e89b-12d3-a456-426614174000', '00000000-0000-4000-8000-000000000000'],
  byte: ['aGVsbG8=', 'AA==', ''],
};

const PIECES = [...'aZ07-_. ä€🐈"\\/&%+,\'<x'];
const PLAIN = [...'abZ07-_x'];

const numbered = (value: unknown): number | undefined =>
  typeof value === 'number' ? value : undefined;

export function textOf(node: Json, random: Random, impossible: () => Error): string {
  const least = numbered(node.minLength) ?? 0;
  const most = Math.min(numbered(node.maxLength) ?? 1_000_000, least + 12);
  if (typeof node.pattern === 'string')
    return matching(node.pattern, least, numbered(node.maxLength), random, impossible);
  const existing = FORMATS[String(node.format)];
  if (existing) return random.of(existing);
  const pieces = random.chance(0.5) ? PLAIN : PIECES;
  return Array.from({ length: random.integer(least, most) }, () => random.of(pieces)).join('');
}

function matching(
  pattern: string,
  least: number,
  most: number | undefined,
  random: Random,
  impossible: () => Error,
): string {
  let samples: string[];
  try {
    const texts = fc.stringMatching(new RegExp(pattern, 'u'));
    samples = fc.sample(texts, { seed: random.integer(0, 2 ** 31), numRuns: 10 });
  } catch {
    // For example patterns with a look-ahead.
    throw impossible();
  }
  const fitting = samples.filter(
    (text) =>
      [...text].length >= least && [...text].length <= (most ?? 1_000_000) && text.isWellFormed(),
  );
  if (fitting.length === 0) throw impossible();
  return random.of(fitting);
}

const larger = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);
const negative = (a: number | undefined): number | undefined => (a === undefined ? a : 0 - a);

export function numberOf(node: Json, random: Random): number {
  const integer = node.type === 'integer';
  const step = numbered(node.multipleOf) ?? (integer || random.chance(0.5) ? 1 : 0.25);
  const wide = integer && node.format !== 'int32' && random.chance(0.1);
  // In OpenAPI 3.1 the exclusive limits are numbers.
  const above = numbered(node.exclusiveMinimum);
  const below = numbered(node.exclusiveMaximum);
  const low = larger(numbered(node.minimum), above);
  const high = larger(negative(numbered(node.maximum)), negative(below));
  const least = low ?? Math.min(-5, (negative(high) ?? 0) - 100);
  const most = negative(high) ?? Math.max(wide ? 2 ** 50 : 1_000, least + 100);
  const isAbove = node.exclusiveMinimum === true || least === above;
  const isBelow = node.exclusiveMaximum === true || most === below;
  const from = Math.ceil(least / step) + (isAbove && least % step === 0 ? 1 : 0);
  const to = Math.floor(most / step) - (isBelow && most % step === 0 ? 1 : 0);
  return random.chance(0.2) ? random.of([from, to]) * step : random.integer(from, to) * step;
}
