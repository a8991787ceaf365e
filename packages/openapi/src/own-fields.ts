import { suggest } from '../../../src/common/suggest.ts';
import { shown } from './names.ts';

/** Names the upstream whose stores answer: on an operation, a path or a tag. Settings say which there are. */
export const UPSTREAM = 'x-storegate-upstream';
/** Lets bodies of an operation pass that cannot be checked. */
export const UNCHECKED_BODY = 'x-storegate-unchecked-body';

const OWN = [UNCHECKED_BODY, UPSTREAM];
/** A name of another vendor must not be taken for a misspelt one. */
const MOST_SLIPS = 3;

/** What is wrong with the name of an extension that has our prefix, or nearly is one of ours; `null` for any other. */
export function misspelling(key: string): string | null {
  if (OWN.includes(key)) return null;
  const meant = suggest(key, OWN, MOST_SLIPS) ?? (isOurs(key) ? suggest(key, OWN) : null);
  if (meant === null && !isOurs(key)) return null;
  const hint = meant === null ? `the extensions are ${OWN.join(' and ')}` : `did you mean ${meant}?`;
  return `${shown(key)} is not an extension of storegate: ${hint}`;
}

const isOurs = (key: string): boolean => /^x-storegate(?:-|$)/i.test(key);
