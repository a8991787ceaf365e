import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DOORS, Doors } from './routes/doors.ts';
import { GROUPS } from './routes/rules.ts';

describe.each(GROUPS)('$name', ({ options, rules, isParallel = false }) => {
  let doors: Doors;
  beforeAll(async () => {
    doors = await Doors.open(options);
  });
  afterAll(() => doors.close());

  test.each(rules)('$name', async ({ observe, expected, notAt = [] }) => {
    const held = doors.all.filter(({ name }) => !notAt.includes(name));
    const observed: unknown[] = [];
    if (isParallel) observed.push(...(await Promise.all(held.map((door) => observe(door, doors)))));
    else for (const door of held) observed.push(await observe(door, doors));
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
      const cells = DOORS.map((door) => (notAt.includes(door) ? '–' : '✓'));
      return `| ${[`${name}.`, ...cells].join(' | ')} |`;
    });
    expect(page.match(/^\| .*[✓–].* \|$/gm)).toEqual(rows);
  });

  test('has the reason for each route where a rule does not hold', () => {
    const exceptions = DOORS.filter((door) => rules.some(({ notAt = [] }) => notAt.includes(door)));
    const reasons = [...page.matchAll(/^- \*\*(.*)\*\*: .+/gm)].map(([, door]) => door);
    expect(reasons.sort()).toEqual([...exceptions].sort());
  });
});
