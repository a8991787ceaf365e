/** A schema for ajv: JSON Schema and the keywords of `Compiler`. */
export type Translated = Record<string, unknown>;

/** What a translator has found out about a document; another one can go on with it. */
export interface Definitions {
  /** The names of definitions, by what makes each of them different from all others. */
  readonly names: ReadonlyMap<string, string>;
  /** The definitions that have alternatives, in themselves or in what they refer to. */
  readonly alternatives: ReadonlySet<string>;
  /** The definition of a name that `refers` in a translated schema has. */
  readonly definition: (name: string) => Translated;
}

/** `own` are the definitions of a translator, besides those that it knows. */
export function definitionsOf(
  names: ReadonlyMap<string, string>,
  own: ReadonlyMap<string, Translated>,
  known: Definitions | undefined,
): Definitions {
  const alternatives = withAlternatives(own, known?.alternatives ?? new Set());
  return { names, alternatives, definition: (name) => own.get(name) ?? known!.definition(name) };
}

/** The names of these definitions that lead to alternatives, and those known before. */
function withAlternatives(own: ReadonlyMap<string, Translated>, known: ReadonlySet<string>): ReadonlySet<string> {
  const found = new Set(known);
  const users = new Map<string, string[]>();
  for (const [name, definition] of own) {
    const names = new Set<string>();
    if (showsAlternatives(definition, names)) found.add(name);
    for (const used of names) users.set(used, [...(users.get(used) ?? []), name]);
  }
  for (const name of found) for (const user of users.get(name) ?? []) found.add(user);
  return found;
}

/** Whether a translated schema has alternatives itself; if not, the names that it refers to are added to `names`. */
export function showsAlternatives(schema: Translated, names: Set<string>): boolean {
  const parts = new Set<object>([schema]);
  for (const part of parts) {
    const { oneOf, anyOf, not, refers, else: otherwise, holds } = part as Translated;
    if (oneOf ?? anyOf ?? not ?? otherwise ?? holds) return true;
    if (typeof refers === 'string') names.add(refers);
    for (const inner of Object.values(part)) if (typeof inner === 'object' && inner !== null) parts.add(inner);
  }
  return false;
}
