import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Rules whose result depends on colours and size. */
export const RULES_OF_LOOKS = [
  'color-contrast',
  'link-in-text-block',
  'scrollable-region-focusable',
  'target-size',
];

/** A third of the rules, including the slowest, have a lower impact. */
const reported = `({ enabled, impact, tags }) => enabled && (impact === 'serious' || impact === 'critical')
  && !tags.includes('experimental') && !tags.includes('deprecated')`;

const PHONE = { width: 390, height: 844 };

interface Look {
  /** A selector; the whole page by default. */
  readonly within?: string;
  /** All rules of axe by default. */
  readonly rules?: readonly string[];
}

/** Serious and critical findings, one per line. A run with all rules costs at least a second. */
export async function accessibilityFindings(
  page: Page,
  { within = 'html', rules }: Look = {},
): Promise<string[]> {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axe);
  const values =
    rules ?? (await page.evaluate(`axe._audit.rules.filter(${reported}).map(({ id }) => id)`));
  const options = { resultTypes: ['violations'], runOnly: { type: 'rule', values } };
  const run = `axe.run(${JSON.stringify(within)}, ${JSON.stringify(options)})`;
  const { violations } = (await page.evaluate(run)) as {
    violations: { id: string; impact: string; nodes: { html: string }[] }[];
  };
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(' | ')}`);
}

/** All rules in the page as it is, and the rules of looks in dark mode on a phone. */
export async function findingsInAllLooks(page: Page, within = 'html'): Promise<string[]> {
  const findings = await accessibilityFindings(page, { within });
  const size = page.viewportSize()!;
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.setViewportSize(PHONE);
  const looks = await accessibilityFindings(page, { within, rules: RULES_OF_LOOKS });
  if (await page.evaluate('document.documentElement.scrollWidth > innerWidth'))
    looks.push('is wider than a phone');
  await page.emulateMedia({ colorScheme: null });
  await page.setViewportSize(size);
  return [...findings, ...looks.map((finding) => `in the dark on a phone: ${finding}`)];
}
