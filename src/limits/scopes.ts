import type { Window } from './limits.ts';

/**
 * The scopes that a request counts in, besides the client's own windows. Create each list once: the
 * hot path and the refusal cache compare lists by identity.
 */
export type Scopes = readonly string[];

/** The request counts in the client's own windows only. */
export const NO_SCOPES: Scopes = Object.freeze([]);

const TAG = 'tag:';

/**
 * Encoded without separators (comma, colon, at sign, blank, quotes), so that a tag never equals an
 * operation. Throws URIError for a lone surrogate.
 */
export function scopeOfOperation(id: string): string {
  return encodeURIComponent(id);
}

export function scopeOfTag(tag: string): string {
  return TAG + encodeURIComponent(tag);
}

/** Decodes a scope into the contract's name. */
export function readScope(scope: string): {
  readonly kind: 'operation' | 'tag';
  readonly name: string;
} {
  const isTag = scope.startsWith(TAG);
  return {
    kind: isTag ? 'tag' : 'operation',
    name: decodeURIComponent(isTag ? scope.slice(TAG.length) : scope),
  };
}

/** `for login`, `for the tag search`. */
export function formatScope(scope: string): string {
  const { kind, name } = readScope(scope);
  return kind === 'tag' ? `for the tag ${name}` : `for ${name}`;
}

const MAX_SCOPE_LENGTH = 304;

export function isScope(text: string): boolean {
  if (text.length > MAX_SCOPE_LENGTH) return false;
  try {
    const { kind, name } = readScope(text);
    return (
      name !== '' &&
      (kind === 'tag' ? scopeOfTag(name) : scopeOfOperation(name)) === text
    );
  } catch (error) {
    if (error instanceof URIError) return false;
    throw error;
  }
}

export function countsIn({ scope }: Window, scopes: Scopes): boolean {
  return scope === undefined || scopes.includes(scope);
}

/** A window name that is unique within a subject: `minute`, `login:minute`, `tag:search:minute`. */
export function fullNameOf({
  scope,
  name,
}: Pick<Window, 'scope' | 'name'>): string {
  return scope === undefined ? name : `${scope}:${name}`;
}

/**
 * A client's own windows and the contract's, in the order of `Limits`; the same list if the
 * contract has none.
 */
export function withScoped(
  own: readonly Window[],
  scoped: readonly Window[],
): readonly Window[] {
  return scoped.length === 0
    ? own
    : [...own, ...scoped].sort((a, b) => a.span - b.span);
}
