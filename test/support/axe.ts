import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Rules whose result changes with colours and size. */
export const RULES_OF_LOOKS = ['color-contrast', 'link-in-text-block', 'scrollable-region-focusable', 'target-size'];

interface Look {
  /** A selector; the whole page unless told otherwise. */
  readonly within?: string;
  /** All that axe has unless told otherwise. */
  readonly rules?: readonly string[];
}

/**
 * The findings of axe with impact serious or critical, one line each. A look with all rules costs a second of computing or more,
 * whatever it looks at: better one at several states, in several parts, than several.
 */
export async function accessibilityFindings(page: Page, { within = 'html', rules }: Look = {}): Promise<string[]> {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axe);
  const options = { resultTypes: ['violations'], ...(rules && { runOnly: { type: 'rule', values: rules } }) };
  const run = `axe.run(${JSON.stringify(within)}, ${JSON.stringify(options)})`;
  const { violations } = (await page.evaluate(run)) as {
    violations: { id: string; impact: string; nodes: { html: string }[] }[];
  };
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(' | ')}`);
}
