import {
  type Document,
  type Findings,
  isObject,
  type Json,
} from '@storegate/openapi';
import {
  DEFAULT_KEY_HEADERS,
  isOwnHeader,
  type KeyHeaders,
} from '../../common/key-headers.ts';
import {
  MAX_SCOPE_LENGTH,
  MAX_SCOPES,
  SCOPE_FORM,
  scopesError,
} from '../../common/scopes.ts';

export const REQUIRED_SCOPES = 'x-required-scopes';

export interface SecurityFields {
  /** Default; settings can change it. */
  readonly keyHeaders: KeyHeaders;
  /** Whether the schemes may be those of the backend: both would read the same header. */
  readonly sharesAuthorization: boolean;
  /**
   * Whether the document names the gateway's own header, so that it was written for the gateway.
   */
  readonly isForGateway: boolean;
}

/**
 * X-API-Key and every header of an `apiKey` scheme; Authorization: Bearer with an `http` scheme, or
 * if the document has no schemes.
 */
export function readSecuritySchemes(document: Document): SecurityFields {
  const components = document.object(document.root.components);
  const written = document.members(components?.securitySchemes);
  const schemes = written
    .map(([, node]) => document.object(node))
    .filter((scheme) => scheme !== null);
  if (schemes.length === 0)
    return {
      keyHeaders: DEFAULT_KEY_HEADERS,
      sharesAuthorization: false,
      isForGateway: false,
    };
  const named = schemes.flatMap((scheme) =>
    scheme.type === 'apiKey' && scheme.in === 'header' ? [scheme.name] : [],
  );
  const isKnown = (name: string) => (other: unknown) =>
    String(other).toLowerCase() === name.toLowerCase();
  const [usual] = DEFAULT_KEY_HEADERS.headers;
  const own = [...new Set(named)].filter(
    (name): name is string => typeof name === 'string' && isOwnHeader(name),
  );
  const bearer = schemes.some(isBearer) || named.some(isKnown('authorization'));
  const isForGateway = own.some(isKnown(usual!));
  return {
    keyHeaders: { headers: isForGateway ? own : [...own, usual!], bearer },
    sharesAuthorization: bearer && !isForGateway,
    isForGateway,
  };
}

export const isBearer = ({ type, scheme }: Json): boolean =>
  type === 'http' && String(scheme).toLowerCase() === 'bearer';

/**
 * Empty security requirements, or one that is empty (OpenAPI 3.1, Operation Object, `security`). An
 * operation that requires scopes needs a key.
 */
export function isPublic(
  document: Document,
  node: Json,
  requiredScopes: readonly string[],
  findings: Findings,
): boolean {
  const security = node.security ?? document.root.security;
  if (!Array.isArray(security)) return false;
  const needsNone =
    security.length === 0 ||
    security.some((one) => isObject(one) && Object.keys(one).length === 0);
  if (!needsNone || requiredScopes.length === 0) return needsNone;
  findings.note(
    node,
    REQUIRED_SCOPES,
    'needs a key, although `security` needs none: requests without a key get 401',
  );
  return false;
}

/** Mistakes are never tolerated: they decide about access. */
export function readRequiredScopes(
  operation: Json,
  findings: Findings,
): readonly string[] {
  const value = operation[REQUIRED_SCOPES];
  if (value === undefined) return [];
  const flaw = errorOf(value);
  if (flaw === null) return Object.freeze([...(value as string[])]);
  findings.refuse(operation, REQUIRED_SCOPES, flaw);
  return [];
}

/** An empty list is refused: without restriction, the field is left out. */
function errorOf(value: unknown): string | null {
  if (
    !Array.isArray(value) ||
    value.length === 0 ||
    !value.every((name) => typeof name === 'string')
  )
    return `must be a list of 1 to ${MAX_SCOPES} names of scopes`;
  const flaw = scopesError(value);
  if (flaw === null) return null;
  if (flaw.kind === 'many') return `must have at most ${MAX_SCOPES} scopes`;
  const name = JSON.stringify(value[flaw.at]!.slice(0, MAX_SCOPE_LENGTH));
  return flaw.kind === 'twice'
    ? `has ${name} twice`
    : `${name} is not a valid scope name: ${SCOPE_FORM}`;
}
