import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Comparison } from './comparison.ts';
import { toSvg } from './picture.ts';
import { toResults } from './report.ts';

const SECTION = /(?<=<!-- bench -->\n).*(?=<!-- end of bench -->)/s;

/** Writes the comparison in results.json, its picture and its section of RESULTS.md. */
export function writeDocuments(comparison: Comparison): void {
  const change = (name: string, edit: (text: string) => string) => {
    const file = join(import.meta.dirname, name);
    writeFileSync(file, edit(readFileSync(file, 'utf8')));
  };
  change(
    'results.json',
    (text) => `${JSON.stringify({ ...JSON.parse(text), comparison }, null, 2)}\n`,
  );
  change('results.svg', () => toSvg(comparison));
  change('RESULTS.md', (text) => text.replace(SECTION, () => toResults(comparison)));
}
