import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Comparison } from './comparison.ts';
import { toSvg } from './picture.ts';
import { figuresOf, toMarkdown } from './report.ts';

const SECTION = /(?<=<!-- bench -->\n).*(?=<!-- end of bench -->)/s;

/** Writes the comparison into RESULTS.md and figures.json, and its picture. */
export function writeDocuments(comparison: Comparison): void {
  const change = (name: string, edit: (text: string) => string) => {
    const file = join(import.meta.dirname, name);
    writeFileSync(file, edit(readFileSync(file, 'utf8')));
  };
  change('RESULTS.md', (text) => text.replace(SECTION, () => toMarkdown(comparison)));
  change('figures.json', (text) => {
    const figures = { ...JSON.parse(text), ...figuresOf(comparison) };
    return `${JSON.stringify(figures, null, 2)}\n`;
  });
  change('comparison.svg', () => toSvg(comparison));
}
