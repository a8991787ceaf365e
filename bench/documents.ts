import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Comparison } from './comparison.ts';
import { marks } from './marks.ts';
import { toSvg } from './picture.ts';
import { toMarkdown } from './report.ts';

/**
 * Renews the files of one run in `folder`: the figures as JSON, the picture, and the part of performance.md between the
 * comments that name this Node.js. The text around them stays. Returns the files.
 */
export function writeDocuments(comparison: Comparison, folder: string): string[] {
  mkdirSync(folder, { recursive: true });
  const major = comparison.machine.versions.node!.split('.')[0]!;
  const page = join(folder, 'performance.md');
  const figures = join(folder, `performance-node-${major}.json`);
  const picture = join(folder, `performance-node-${major}.svg`);
  writeFileSync(figures, `${JSON.stringify({ ...comparison, marks: marks(comparison) }, null, 2)}\n`);
  writeFileSync(picture, toSvg(comparison));
  const section = `![CPU time per request, one bar per proxy](performance-node-${major}.svg)\n\n${toMarkdown(comparison)}`;
  writeFileSync(page, renew(existsSync(page) ? readFileSync(page, 'utf8') : '', major, section));
  return [page, figures, picture];
}

/** Replaces the section of this Node.js, or appends it to a page that has none. */
function renew(page: string, major: string, section: string): string {
  const [begin, end] = [`<!-- bench: node ${major} -->`, `<!-- bench: end of node ${major} -->`];
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  const text = `${begin}\n${section}${end}`;
  if (from < 0 || to < from) return `${page}${page === '' ? '' : '\n'}## Node ${major}\n\n${text}\n`;
  return page.slice(0, from) + text + page.slice(to + end.length);
}
