import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';

const root = resolve(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');
/** Words that a reader sees: text, tables and code, each with a letter or digit. */
const words = (file: string) =>
  read(file)
    .replaceAll(/<!--[\s\S]*?-->/g, '')
    .match(/\S*[\p{L}\p{N}]\S*/gu)!.length;

/** Maximum words per page. Generated pages count towards the limit of docs/ only. */
const BUDGETS: Record<string, number> = {
  'README.md': 700,
  'CONTRIBUTING.md': 860,
  'docs/quickstart.md': 600,
  'docs/tutorial.md': 600,
  'docs/install.md': 750,
  'docs/deploy.md': 1420,
  'docs/redis.md': 850,
  'docs/scaling.md': 700,
  'docs/tls.md': 600,
  'docs/openapi.md': 830,
  'docs/keys.md': 450,
  'docs/plans.md': 450,
  'docs/bans.md': 300,
  'docs/operators.md': 350,
  'docs/import-keys.md': 700,
  'docs/move-from-kong.md': 800,
  'docs/backup-upgrade.md': 900,
  'docs/monitoring.md': 1000,
  'docs/troubleshooting.md': 1500,
  'docs/clients.md': 900,
  'docs/recipes.md': 1100,
  'docs/request-path.md': 400,
  'docs/glossary.md': 300,
  'docs/comparison.md': 300,
  'docs/faq.md': 400,
  'docs/limits-and-bans.md': 1100,
  'docs/failure-modes.md': 1400,
  'docs/security.md': 1200,
  'docs/performance.md': 600,
  'docs/validation.md': 1850,
};
const MOST_IN_ALL = 34_000;
const MOST_LINES_OF_CHANGELOG = 40;

describe('budgets', () => {
  test.each(Object.entries(BUDGETS))('%s has at most %d words', (file, most) => {
    expect(words(file)).toBeLessThanOrEqual(most);
  });

  test('the pages of docs/ have at most 34,000 words', () => {
    const pages = readdirSync(join(root, 'docs')).filter((file) => file.endsWith('.md'));
    const all = pages.map((file) => words(`docs/${file}`)).reduce((sum, one) => sum + one, 0);
    expect(all).toBeLessThanOrEqual(MOST_IN_ALL);
  });

  test('CHANGELOG.md has at most 40 lines', () => {
    expect(read('CHANGELOG.md').trimEnd().split('\n').length).toBeLessThanOrEqual(
      MOST_LINES_OF_CHANGELOG,
    );
  });
});
