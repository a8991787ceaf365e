import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ROUTES, Routes, type RoutesOptions } from './routes/routes.ts';
import { GROUPS } from './routes/rules.ts';

/** Groups with the same options share them. */
const opened = new Map<RoutesOptions, Routes>();
afterAll(async () => {
  for (const routes of opened.values()) await routes.close();
});

describe.each(GROUPS)('$name', ({ options, rules, isParallel = false }) => {
  let routes: Routes;
  beforeAll(async () => {
    routes = opened.get(options) ?? (await Routes.open(options));
    opened.set(options, routes);
  });

  test.each(rules)('$name', async ({ observe, expected, notAt = [] }) => {
    const held = routes.all.filter(({ name }) => !notAt.includes(name));
    const observed: unknown[] = [];
    if (isParallel)
      observed.push(...(await Promise.all(held.map((route) => observe(route, routes)))));
    else for (const route of held) observed.push(await observe(route, routes));
    expect(held.map(({ name }, i) => [name, observed[i]])).toEqual(
      held.map(({ name }) => [name, expected]),
    );
  });
});

describe('docs/routes.md', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/routes.md'), 'utf8');
  const rules = GROUPS.flatMap(({ rules }) => rules);

  test('has a row for each rule, in order, and a cell for each route', () => {
    const rows = rules.map(({ name, notAt = [] }) => {
      const cells = ROUTES.map((route) => (notAt.includes(route) ? '–' : '✓'));
      return `| ${[`${name}.`, ...cells].join(' | ')} |`;
    });
    expect(page.match(/^\| .*[✓–].* \|$/gm)).toEqual(rows);
  });

  test('has the reason for each route where a rule does not hold', () => {
    const exceptions = ROUTES.filter((route) =>
      rules.some(({ notAt = [] }) => notAt.includes(route)),
    );
    const reasons = [...page.matchAll(/^- \*\*(.*)\*\*: .+/gm)].map(([, route]) => route);
    expect(reasons.sort()).toEqual([...exceptions].sort());
  });
});
