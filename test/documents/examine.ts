import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Listed } from './list.ts';
import type { Loader, Outcome } from './loader.ts';
import { isReason, REASONS, type ReasonName, reasonOf } from './reasons.ts';
import type { Claim, SecondOpinions } from './second-opinions.ts';

export interface Examined {
  readonly name: string;
  readonly path: string;
  readonly document: Listed;
  readonly outcome: Outcome;
  /** From the list, and between validators. */
  readonly differences: readonly string[];
}

export async function examine(
  name: string,
  document: Listed,
  root: string,
  loader: Loader,
  opinions: SecondOpinions | null,
): Promise<Examined> {
  const path = join(root, document.file);
  const bytes = readFileSync(path);
  const differences: string[] = [];
  if (createHash('sha256').update(bytes).digest('hex') !== document.sha256)
    differences.push('the file has another hash');
  const outcome = await loader.load(path);
  differences.push(...differencesIn(document, outcome));
  if (opinions && outcome.problems.length > 0)
    differences.push(...(await unconfirmed(outcome.problems, await opinions.of(path))));
  differences.push(...(outcome.judgement?.differences ?? []));
  differences.push(...(outcome.examples?.differences ?? []));
  return { name, path, document, outcome, differences };
}

function differencesIn({ operations, refused = {} }: Listed, outcome: Outcome): string[] {
  const found = new Set<ReasonName>();
  const unknown: string[] = [];
  for (const { pointer, message } of outcome.problems) {
    const reason = reasonOf(message);
    if (reason === null) unknown.push(`is refused: ${pointer} ${message}`);
    else found.add(reason);
  }
  const listed = Object.keys(refused).filter(isReason);
  const differences = [
    ...unknown,
    ...[...found].filter((one) => !listed.includes(one)).map((one) => `is refused for ${one}`),
    ...listed.filter((one) => !found.has(one)).map((one) => `is not refused for ${one}`),
  ];
  if (listed.length === 0 && outcome.operations !== operations)
    differences.push(`has ${outcome.operations} operations, and the list says ${operations}`);
  return differences;
}

type Confirms = Awaited<ReturnType<SecondOpinions['of']>>;

/** Of each kind of mistake, every claim. */
function unconfirmed(claims: readonly Claim[], confirms: Confirms): string[] {
  return claims.flatMap((claim) => {
    const reason = reasonOf(claim.message);
    const { confirmedBy = [] } = reason === null ? {} : (REASONS[reason] as Partial<Reasons>);
    if (confirmedBy.length === 0 || confirmedBy.some((by) => confirms(claim, by))) return [];
    return [`only this validator says: ${claim.pointer} ${claim.message}`];
  });
}

type Reasons = { readonly confirmedBy: readonly Parameters<Confirms>[1][] };
