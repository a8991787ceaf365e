import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * Words that stand for a term of the field: `told` for returned, `away` for down, `nobody` for no
 * client.
 */
const DIALECT =
  /\b(?:told|tells?|telling|tellers?|whoever|whom|nobody|anew|afresh|away|rungs?|desks?|hindsight|pardon(?:s|ed)?|impos(?:es?|ed|ition)|seldom|(?:is|are) (?:no|none)|go(?:es)? on|no longer|as before|mend(?:s|ed)?|ladder|standings?|conduct|fleet|entrance)\b/g;

/** Files that must name former words, hold data, or are generated from files that count. */
const EXEMPT =
  /^(?:package-lock\.json|LICENSE|test\/support\/dialect\.ts|test\/documents\/list\.yaml|test\/.*\/fixtures\/|deploy\/kubernetes\/monitoring\/prometheus-rule\.yaml)|\.(?:png|svg|log|db)$/;

/** Occurrences per folder, at most. A number may only fall; the aim is 0.3 per 1,000 words. */
export const DIALECT_LIMITS: Readonly<Record<string, number>> = {
  'bench/transfer': 2,
  'docs/backup-upgrade.md': 3,
  'packages/console': 2,
  'packages/openapi': 1,
  'src/admin': 8,
  'src/cli': 1,
  'src/gateway': 9,
  'src/limits': 9,
  'src/observe': 11,
  'src/records': 37,
  'src/run': 2,
  'src/state': 19,
  'src/webhooks': 2,
  'test/admin': 1,
  'test/cli': 1,
  'test/gateway': 12,
  'test/journeys': 6,
  'test/limits': 13,
  'test/observe': 2,
  'test/papers.test.ts': 1,
  'test/records': 34,
  'test/run': 2,
  'test/simulation': 3,
  'test/state': 14,
  'test/support': 7,
};

/** `src/state` for a file in it, the file itself at the root. */
const folderOf = (file: string): string => file.split('/').slice(0, 2).join('/');

/**
 * Words of the dialect in each folder of the repository, in code (names split at capitals),
 * comments and text.
 */
export function dialectByFolder(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const file of execFileSync('git', ['ls-files', '-z'], { encoding: 'utf8' }).split('\0')) {
    if (!/\.(?:ts|js|md|ya?ml|css|html|json|lua)$/.test(file) || EXEMPT.test(file)) continue;
    const count = dialectIn(readFileSync(file, 'utf8'));
    if (count > 0) counts.set(folderOf(file), (counts.get(folderOf(file)) ?? 0) + count);
  }
  return counts;
}

/** The number of words of the dialect in a text. */
export function dialectIn(text: string): number {
  return (
    text
      .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
      .replaceAll('_', ' ')
      .toLowerCase()
      .match(DIALECT)?.length ?? 0
  );
}
