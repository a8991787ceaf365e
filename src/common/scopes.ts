export const MAX_SCOPE_LENGTH = 64;
export const MAX_SCOPES = 32;

/**
 * A scope-token of RFC 6749 section 3.3 without commas and semicolons, which often separate lists.
 */
const SCOPE = /^[!#-+\--:<-[\]-~]{1,64}$/;

export const SCOPE_FORM = `1 to ${MAX_SCOPE_LENGTH} visible characters of ASCII without quotes, commas, semicolons and backslashes`;

export const isScope = (name: string): boolean => SCOPE.test(name);

type ScopesError =
  | { readonly kind: 'many' }
  | { readonly kind: 'form' | 'twice'; readonly at: number };

export function scopesError(scopes: readonly string[]): ScopesError | null {
  if (scopes.length > MAX_SCOPES) return { kind: 'many' };
  const odd = scopes.findIndex((name) => !isScope(name));
  if (odd !== -1) return { kind: 'form', at: odd };
  const twice = scopes.findIndex((name, i) => scopes.indexOf(name) !== i);
  return twice === -1 ? null : { kind: 'twice', at: twice };
}
