import type { Window } from './limits.ts';

/**
 * The scopes that a request counts in, besides the client's own windows. Create each list once: the
 * hot path and the refusal cache compare lists by identity.
 */
export type Scopes = readonly string[];

/** The request counts in the client's own windows only. */
export const NO_SCOPES: Scopes = Object.freeze([]);

const TAG = 'tag:';
const API = '@';

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

/** All requests of an API, by its name. */
export function scopeOfApi(name: string): string {
  return API + encodeURIComponent(name);
}

/** The name of an operation, or a scope, among those of several APIs; `null`: the default API. */
export function inApi(api: string | null, name: string): string {
  return api === null ? name : `${api}/${name}`;
}

export const isOfApi = (api: string, operation: string): boolean =>
  operation.startsWith(`${api}/`);

/** Decodes a scope into the contract's name. */
export function readScope(scope: string): {
  /** `null`: the default API; of kind `api` it is in `name`. */
  readonly api: string | null;
  readonly kind: 'operation' | 'tag' | 'api';
  readonly name: string;
} {
  if (isApiScope(scope)) {
    const name = decodeURIComponent(scope.slice(API.length));
    return { api: null, kind: 'api', name };
  }
  const slash = scope.indexOf('/');
  const api = slash < 0 ? null : scope.slice(0, slash);
  const own = scope.slice(slash + 1);
  const isTag = own.startsWith(TAG);
  return {
    api,
    kind: isTag ? 'tag' : 'operation',
    name: decodeURIComponent(isTag ? own.slice(TAG.length) : own),
  };
}

/** `for login`, `for notes/login`, `for the tag search`, `for the API notes`. */
export function formatScope(scope: string): string {
  const { api, kind, name } = readScope(scope);
  return `for ${KINDS[kind]}${inApi(api, name)}`;
}

const KINDS = { operation: '', tag: 'the tag ', api: 'the API ' } as const;

const isApiScope = (scope: string): boolean => scope.startsWith(API);

/** Whether it is of a plan, key or account: others are the contract's. */
export const isOwn = ({ scope }: Pick<Window, 'scope'>): boolean =>
  scope === undefined || isApiScope(scope);

const SCOPES = {
  operation: scopeOfOperation,
  tag: scopeOfTag,
  api: scopeOfApi,
} as const;

/** With the name of an API. */
const MAX_SCOPE_LENGTH = 337;

export function isScope(text: string): boolean {
  if (text.length > MAX_SCOPE_LENGTH) return false;
  try {
    const { api, kind, name } = readScope(text);
    return name !== '' && inApi(api, SCOPES[kind](name)) === text;
  } catch (error) {
    if (error instanceof URIError) return false;
    throw error;
  }
}

export function countsIn({ scope }: Window, scopes: Scopes): boolean {
  return scope === undefined || scopes.includes(scope);
}

/**
 * A window name that is unique within a subject: `minute`, `minute@notes`, `login:minute`,
 * `tag:search:minute`.
 */
export function fullNameOf({
  scope,
  name,
}: Pick<Window, 'scope' | 'name'>): string {
  if (scope === undefined) return name;
  return isApiScope(scope) ? name + scope : `${scope}:${name}`;
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
