import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Blocks } from './figures/block.ts';
import { limitsAndBans } from './figures/limits-and-bans.ts';
import { performance } from './figures/performance.ts';
import { readme } from './figures/readme.ts';
import { scaling } from './figures/scaling.ts';
import { Results } from './results.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** The pages with figures of bench/RESULTS.md, and their blocks. */
export const FIGURES: Readonly<Record<string, Blocks>> = {
  'README.md': readme,
  'docs/limits-and-bans.md': limitsAndBans,
  'docs/performance.md': performance,
  'docs/scaling.md': scaling,
};

/** A block with its name. It ends before the next block begins. */
export const BLOCK =
  /(<!-- figures: (\w+) -->\n)(?:(?!<!-- figures:).)*?(<!-- end of figures -->)/gs;

/** A page of FIGURES with the figures of bench/RESULTS.md in its blocks; other text stays. */
export function withFigures(file: string): string {
  const results = new Results(readFileSync(resolve(ROOT, 'bench/RESULTS.md'), 'utf8'));
  return writeBlocks(file, readFileSync(resolve(ROOT, file), 'utf8'), FIGURES[file]!, results);
}

/**
 * Writes the text between `<!-- figures: NAME -->` and `<!-- end of figures -->` of a file. Throws
 * unless its text has each block exactly once, and no other.
 */
export function writeBlocks(file: string, text: string, blocks: Blocks, results: Results): string {
  const found = [...text.matchAll(BLOCK)].map(([, , name]) => name!);
  const expected = Object.keys(blocks);
  if (found.toSorted().join() !== expected.toSorted().join()) {
    const complete = `${file} has the complete blocks "${found.join(', ')}".`;
    throw new Error(`${complete} Begin and end each of "${expected.join(', ')}" once.`);
  }
  return text.replace(BLOCK, (_, begin: string, name: string, end: string) => {
    return `${begin}${blocks[name]!(results)}\n${end}`;
  });
}
