import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { perSecond, type Results, readResults, withFigures } from '../../scripts/docs/figures.ts';
import { parsePlans } from '../../src/config/plans.ts';
import { formatDuration } from '../../src/config/units.ts';

const root = resolve(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');

/** With another value at a path of bench/results.json. */
function changed(path: string, value: unknown): Results {
  const results = structuredClone(readResults());
  const names = path.split('.');
  const last = names.pop()!;
  // biome-ignore lint/suspicious/noExplicitAny: any path.
  const parent = names.reduce<any>((at, name) => at[name], results);
  parent[last] = value;
  return results;
}

const indexOf = (work: string, target: string) =>
  readResults().comparison.results.findIndex((one) => one.work === work && one.target === target);
const GET = `comparison.results.${indexOf('get', 'storegate')}`;

describe('figures of pages', () => {
  test.each([
    ['README.md', '| GET | 1,200<!--', `${GET}.cpu.median`, 800],
    ['README.md', '1999-01-02<!--', 'comparison.machine.date', '1999-01-02'],
    ['README.md', '777<!-- restarts.lost --> lost', 'measurements.restarts.lost', 777],
    ['docs/performance.md', 'costs 800.0<!-- get.storegate --> µs', `${GET}.cpu.median`, 800],
    ['docs/performance.md', 'costs 69<!--', 'measurements.tls.keptPlain', -36],
    [
      'docs/performance.md',
      ' 77.8<!--',
      `comparison.results.${indexOf('post-1m', 'ajv')}.cpu.median`,
      77_777.7,
    ],
    ['docs/performance.md', '7.77<!-- latency.usual.p99 -->', 'comparison.latencies.6.p99', 7.77],
    [
      'docs/scaling.md',
      '| 0.5<!-- redis.twoHundred --> µs | 2,000,000<!--',
      'measurements.redis.twoHundred',
      0.5,
    ],
    ['docs/scaling.md', '7.8<!--', 'measurements.records.copy', 777],
    ['bench/RESULTS.md', 'in place of 8<!--', 'measurements.tls.keptPlain', 8],
  ])('%s has "%s" after a change of bench/results.json', (file, expected, path, value) => {
    const page = read(file);
    expect(page).not.toContain(expected);
    expect(withFigures(page, changed(path, value))).toContain(expected);
  });

  test('are marked if a target was measured without a log only', () => {
    const row = '0<!-- get.storegate --> and 0<!-- perSecond get.storegate -->';
    expect(withFigures(row)).toMatch(/^[\d.]+<!-- .* and [\d,]+<!--/);
    const silent = changed(`${GET}.target`, 'storegate-silent');
    expect(withFigures(row, silent)).toMatch(/^[\d.]+ \\\*<!-- .* and [\d,]+ \\\*<!--/);
  });

  test('are written between all other text, which stays', () => {
    const page = 'a 1<!-- tls.kept -->, <!-- tls.kept - tls.keptPlain --> b\n<!-- bench --> 7\n';
    const { kept, keptPlain } = readResults().measurements.tls!;
    const own = `a ${kept}<!-- tls.kept -->, ${Number(kept) - Number(keptPlain)}<!-- tls.kept - tls.keptPlain --> b`;
    expect(withFigures(page)).toBe(`${own}\n<!-- bench --> 7\n`);
  });

  test.each([
    ['1<!-- get.nothing -->', 'bench/results.json has no figure "get.nothing".'],
    ['1<!-- tls.kept - tls.none -->', 'bench/results.json has no figure "tls.none".'],
    ['1<!-- hourly tls.kept -->', 'There is no form "hourly" of a figure.'],
  ])('refuse %s', (page, message) => {
    expect(() => withFigures(page)).toThrow(message);
  });
});

describe('capacity of a core', () => {
  test.each([
    [9, '110,000'],
    [23.9, '41,000'],
    [100.6, '9,900'],
    [1_000, '1,000'],
  ])('%d µs per request are %s requests per second', (micros, expected) => {
    expect(perSecond(micros)).toBe(expected);
  });

  test('is at most a tenth below the measurement, and never above it', () => {
    fc.assert(
      fc.property(fc.double({ min: 1, max: 10_000, noNaN: true }), (micros) => {
        const capacity = Number(perSecond(micros).replaceAll(',', ''));
        expect(capacity).toBeLessThanOrEqual(1_000_000 / micros);
        expect(capacity).toBeGreaterThan((0.9 * 1_000_000) / micros);
      }),
    );
  });
});

test('the picture of bans has the durations of plans.yaml', () => {
  const picture = read('docs/images/ban-escalation.svg');
  const { escalation } = parsePlans(read('plans.yaml'));
  const missing = [...escalation!.durations, escalation!.decay]
    .map(formatDuration)
    .filter((text) => !picture.includes(text));
  expect(missing).toEqual([]);
});
