import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { plansFile } from '../../src/cli/init-files.ts';
import type { Window } from '../../src/limits/limits.ts';
import type { Plans } from '../../src/limits/plans.ts';
import { loadPlans } from '../support/load-plans.ts';
import { folderWith } from './folder.ts';

const root = resolve(import.meta.dirname, '../..');
const MINUTE = 60_000;
const shipped = readFileSync(join(root, 'plans.yaml'), 'utf8');
const example = /\n((?:# {2}.*\n)+)accounts: \{\}\n/;

/** The example of an account, which stands in a comment. */
const withExample = shipped.replace(
  example,
  (_, lines: string) => `\naccounts:\n${lines.replaceAll(/^#/gm, '')}`,
);

const FILES: Readonly<Record<string, () => Plans>> = {
  'plans.yaml': () => loadPlans(join(root, 'plans.yaml')),
  'its example of an account': () =>
    loadPlans('plans.yaml', folderWith({ 'plans.yaml': withExample })),
  'the file that init writes': () =>
    loadPlans('plans.yaml', folderWith({ 'plans.yaml': plansFile() })),
  'the Kubernetes example': () =>
    loadPlans(join(root, 'deploy/kubernetes/overlays/example/plans.yaml')),
};

function entriesIn({ plans, publicPlan, accounts, concurrencies }: Plans) {
  const ofPlans = [...plans.values(), publicPlan!].map(({ name, windows, concurrency }) => ({
    name,
    windows: windows ?? [],
    concurrency,
  }));
  const ofAccounts = [...accounts].map(([name, windows]) => ({
    name,
    windows,
    concurrency: concurrencies?.get(name),
  }));
  return [...ofPlans, ...ofAccounts];
}

const burstOf = (windows: readonly Window[]) =>
  Math.min(...windows.filter(({ span }) => span <= MINUTE).map(({ limit }) => limit));

test.each(Object.keys(FILES))(
  'the concurrency in %s admits the quota of a minute in one burst',
  (file) => {
    const bounded = entriesIn(FILES[file]!()).filter(({ windows }) => windows.length > 0);
    expect(bounded.length).toBeGreaterThan(1);
    for (const { name, windows, concurrency = Number.POSITIVE_INFINITY } of bounded)
      expect([name, concurrency >= burstOf(windows)]).toEqual([name, true]);
  },
);

test('plans.yaml bounds the requests in flight of each plan that has windows', () => {
  const bounds = entriesIn(FILES['its example of an account']!()).map(({ name, concurrency }) => [
    name,
    concurrency,
  ]);
  expect(Object.fromEntries(bounds)).toEqual({
    free: 60,
    pro: 300,
    business: 1_000,
    enterprise: undefined,
    public: 60,
    acme: 5_000,
  });
});
