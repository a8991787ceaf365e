/** The most characters of a name of a scope, and the most scopes of a key or an operation. */
export const MAX_SCOPE_LENGTH = 64;
export const MOST_SCOPES = 32;

/**
 * A scope-token of RFC 6749 section 3.3, but for commas and semicolons: lists in cells and on command lines are often divided by
 * them, and `a,b` must not become the name of one scope.
 */
const SCOPE = /^[!#-+\--:<-[\]-~]{1,64}$/;

/** What a name of a scope is, as the end of a sentence. */
export const SCOPE_FORM = `1 to ${MAX_SCOPE_LENGTH} visible characters of ASCII without quotes, commas, semicolons and backslashes`;

export const isScope = (name: string): boolean => SCOPE.test(name);

/** What is wrong with a list of scopes. */
export type ScopesError =
  | { readonly kind: 'many' }
  /** `at`: the place of the first such name, from 0. */
  | { readonly kind: 'form' | 'twice'; readonly at: number };

export function scopesError(scopes: readonly string[]): ScopesError | null {
  if (scopes.length > MOST_SCOPES) return { kind: 'many' };
  const odd = scopes.findIndex((name) => !isScope(name));
  if (odd !== -1) return { kind: 'form', at: odd };
  const twice = scopes.findIndex((name, i) => scopes.indexOf(name) !== i);
  return twice === -1 ? null : { kind: 'twice', at: twice };
}
