import { mapInside } from './cut.ts';
import type { Translated } from './definitions.ts';

const LISTS = ['anyOf', 'oneOf'] as const;
const FIRST = ['type', 'kinds', 'required'] as const;

/** Repeats types and required members of named alternatives: most fail, and a look costs less than a call. */
export function withFirstLook(schema: Translated, find: (name: string) => Translated): Translated {
  const result = mapInside(schema, (part) => withFirstLook(part, find));
  for (const list of LISTS) {
    if (list in result) result[list] = (result[list] as Translated[]).map((part) => lookedAt(part, find));
  }
  return result;
}

function lookedAt(alternative: Translated, find: (name: string) => Translated): Translated {
  const { refers } = alternative;
  if (typeof refers !== 'string') return alternative;
  const definition = find(refers);
  const first = FIRST.filter((keyword) => keyword in definition).map((keyword) => [keyword, definition[keyword]]);
  return { ...Object.fromEntries(first), ...alternative };
}
