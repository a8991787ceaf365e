import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Comparison } from './comparison.ts';
import { marks } from './marks.ts';
import { toSvg } from './picture.ts';
import { toResults } from './report.ts';

/**
 * Writes JSON, the picture, and the section of RESULTS.md for this Node.js; the text around it
 * stays. Returns the files.
 */
export function writeDocuments(comparison: Comparison, folder: string): string[] {
  mkdirSync(folder, { recursive: true });
  const major = comparison.machine.versions.node!.split('.')[0]!;
  const page = join(folder, 'RESULTS.md');
  const measurements = join(folder, `results-node-${major}.json`);
  const picture = join(folder, `results-node-${major}.svg`);
  writeFileSync(
    measurements,
    `${JSON.stringify({ ...comparison, marks: marks(comparison) }, null, 2)}\n`,
  );
  writeFileSync(picture, toSvg(comparison));
  writeFileSync(
    page,
    replaceSection(
      existsSync(page) ? readFileSync(page, 'utf8') : '',
      major,
      toResults(comparison),
    ),
  );
  return [page, measurements, picture];
}

function replaceSection(page: string, major: string, section: string): string {
  const [begin, end] = [`<!-- bench: node ${major} -->`, `<!-- bench: end of node ${major} -->`];
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  const text = `${begin}\n${section}${end}`;
  if (from < 0 || to < from)
    return `${page}${page === '' ? '' : '\n'}## Node ${major}\n\n${text}\n`;
  return page.slice(0, from) + text + page.slice(to + end.length);
}
