import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { perSecond } from '../../scripts/docs/figures/block.ts';
import { FIGURES, writeBlocks } from '../../scripts/docs/figures.ts';
import { Results } from '../../scripts/docs/results.ts';
import { parsePlans } from '../../src/config/plans.ts';
import { formatDuration } from '../../src/config/units.ts';

const root = resolve(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');

const PAGE = `# Results

## Comparison

| target | CPU µs | note |
|---|--:|---|
| nginx | 9.0 | quick |
| storegate | 1,234.5 | – |

and later

| target | CPU µs |
|---|--:|
| nginx | 8.0 |

## Comparison

| target | CPU µs |
|---|--:|
| nginx | 7.0 |
`;
const sample = new Results(PAGE);

/** Blocks whose Markdown is their name and a figure. */
const BLOCKS = {
  first: (source: Results) => `first ${source.number('Comparison', 'nginx', 'CPU µs')}`,
  second: (source: Results) => `second ${source.cell('Comparison', 'nginx', 'note')}`,
};
const blockOf = (name: string) => `<!-- figures: ${name} -->\nold\n<!-- end of figures -->\n`;

describe('figures of pages', () => {
  const GET = /(?<=\| storegate, embedded state +\| +)[\d.]+/;
  test.each([
    ['README.md', '| GET | 1,200 |', GET, '800.0'],
    ['README.md', '1999-01-02, Other', /^\d{4}-\d\d-\d\d: [^,]+/m, '1999-01-02: Other'],
    ['README.md', ', 777 lost.', /(?<=rolling restarts.*, )\d+(?= lost)/, '777'],
    ['docs/performance.md', 'costs 800.0 µs of CPU', GET, '800.0'],
    [
      'docs/performance.md',
      'costs 69 µs',
      /\d+ µs of CPU in place of \d+/,
      '77 µs of CPU in place of 8',
    ],
    [
      'docs/performance.md',
      'costs 77.8 ms',
      /(?<=POST, 1 MB of JSON\n(?:.*\n)+?\| storegate, embedded state[^|]*\| +)[\d.]+/,
      '77777.7',
    ],
    ['docs/scaling.md', '| 0.5 µs | 2,000,000 per second |', /(?<=200 at a time \| )[\d.]+/, '0.5'],
    ['docs/scaling.md', '7.8 GB', /(?<=records\.db` \|.*\| )\d+(?= bytes a key \|$)/m, '777'],
  ])('%s has "%s" after a change of bench/RESULTS.md', (file, expected, figure, value) => {
    const page = read(file);
    const results = new Results(read('bench/RESULTS.md').replace(figure, value));
    expect(page).not.toContain(expected);
    expect(writeBlocks(file, page, FIGURES[file]!, results)).toContain(expected);
  });

  test.each([true, false])('mark what was measured without a log alone: %s', (isAlone) => {
    const page = read('bench/RESULTS.md');
    const results = new Results(
      isAlone
        ? page.replace(/^\| storegate, (\w+) state {2}/gm, '| storegate, $1 state, no log')
        : page.replaceAll(', no log ', ' '),
    );
    const text = writeBlocks('README.md', read('README.md'), FIGURES['README.md']!, results);
    expect(text.includes('\\* without a line of the log per request.')).toBe(isAlone);
    expect(/^\| GET \| [\d,]+ \\\*/m.test(text)).toBe(isAlone);
  });

  test('are written between their marks, and the text around them stays', () => {
    const page = `before\n\n${blockOf('second')}between\n${blockOf('first')}after\n`;
    const expected = page.replace('old', 'second quick').replace('old', 'first 9');
    expect(writeBlocks('page.md', page, BLOCKS, sample)).toBe(expected);
  });

  test.each([
    ['a missing block', blockOf('first')],
    ['a block twice', blockOf('first') + blockOf('second') + blockOf('second')],
    ['a block of another page', blockOf('first') + blockOf('second') + blockOf('third')],
    ['a block without an end', blockOf('first') + blockOf('second').replace('end of', '')],
    ['a block in a block', blockOf('first').replace('end of', '') + blockOf('second')],
  ])('refuse %s', (_, page) => {
    expect(() => writeBlocks('page.md', page, BLOCKS, sample)).toThrow(
      /^page\.md has the complete blocks ".*"\. Begin and end each of "first, second" once\.$/,
    );
  });
});

describe('the reader of results', () => {
  test('reads cells of the first section of a name, by table, row and column', () => {
    expect(sample.cell('Comparison', 'nginx', 'CPU µs')).toBe('9.0');
    expect(sample.cell('Comparison', 'nginx', 'CPU µs', 1)).toBe('8.0');
    expect(sample.number('Comparison', 'storegate', 'CPU µs')).toBe(1234.5);
    expect(sample.hasRow('Comparison', 'storegate')).toBe(true);
    expect(sample.hasRow('Comparison', 'storegate, no log')).toBe(false);
    expect(sample.match('Comparison', /and (\w+)/)).toEqual(['later']);
  });

  test.each([
    ['section', () => sample.cell('Nothing', 'nginx', 'CPU µs')],
    ['row', () => sample.cell('Comparison', 'HAProxy', 'CPU µs')],
    ['column', () => sample.cell('Comparison', 'nginx', 'GPU µs')],
    ['table', () => sample.cell('Comparison', 'nginx', 'CPU µs', 2)],
    ['number', () => sample.number('Comparison', 'nginx', 'note')],
    ['match', () => sample.match('Comparison', /and never/)],
  ])('throws if it misses a %s', (_, readFigure) => {
    expect(readFigure).toThrow(/^bench\/RESULTS\.md has no .+\. Correct its name in scripts/);
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
