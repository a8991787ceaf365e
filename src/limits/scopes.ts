import type { Window } from './limits.ts';

/**
 * The scopes that a request counts in, beside the client's own windows. Make each list once and keep it: the hot path and the memory
 * of refusals compare lists by identity.
 */
export type Scopes = readonly string[];

/** A request that counts in the client's own windows alone. */
export const NO_SCOPES: Scopes = Object.freeze([]);

const TAG = 'tag:';

/**
 * The scope of an operation's windows. Encoded, so that it has none of the characters that divide lists and names (comma, colon,
 * at sign, blank, quotes), and no tag is ever taken for an operation. Throws URIError for half a character.
 */
export function scopeOfOperation(id: string): string {
  return encodeURIComponent(id);
}

/** The scope of a tag's windows. */
export function scopeOfTag(tag: string): string {
  return TAG + encodeURIComponent(tag);
}

/** What a scope stands for, by the name that the contract has for it. */
export function readScope(scope: string): { readonly kind: 'operation' | 'tag'; readonly name: string } {
  const isTag = scope.startsWith(TAG);
  return { kind: isTag ? 'tag' : 'operation', name: decodeURIComponent(isTag ? scope.slice(TAG.length) : scope) };
}

/** `for login`, `for the tag search`. */
export function scopeInWords(scope: string): string {
  const { kind, name } = readScope(scope);
  return kind === 'tag' ? `for the tag ${name}` : `for ${name}`;
}

const LONGEST = 304;

/** Whether a text that somebody else wrote is a scope. */
export function isScope(text: string): boolean {
  if (text.length > LONGEST) return false;
  try {
    const { kind, name } = readScope(text);
    return name !== '' && (kind === 'tag' ? scopeOfTag(name) : scopeOfOperation(name)) === text;
  } catch (error) {
    if (error instanceof URIError) return false;
    throw error;
  }
}

/** Whether a request that counts in `scopes` counts in a window. */
export function countsIn({ scope }: Window, scopes: Scopes): boolean {
  return scope === undefined || scopes.includes(scope);
}

/** The name of a window among all of a subject, which no other has: `minute`, `login:minute`, `tag:search:minute`. */
export function fullNameOf({ scope, name }: Pick<Window, 'scope' | 'name'>): string {
  return scope === undefined ? name : `${scope}:${name}`;
}

/** A client's own windows and those of a contract, in the order that `Limits` has; the same list where there are none of those. */
export function withScoped(own: readonly Window[], scoped: readonly Window[]): readonly Window[] {
  return scoped.length === 0 ? own : [...own, ...scoped].sort((a, b) => a.span - b.span);
}
