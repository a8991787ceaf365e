import { type Document, type Findings, isObject, type Json } from '@storegate/openapi';
import { type Carriers, isOwnHeader, USUAL_CARRIERS } from '../../common/carriers.ts';
import { REQUIRED_SCOPES } from './required-scopes.ts';

export interface SecurityFields {
  /** Unless settings say otherwise. */
  readonly carriers: Carriers;
  /** Whether the schemes may be those of the backend: both would read the same header. */
  readonly sharesAuthorization: boolean;
  /** Whether the document names the gateway's own header, so that it was written for the gateway. */
  readonly isForGateway: boolean;
}

/**
 * X-API-Key and every header of an `apiKey` scheme; Authorization: Bearer with an `http` scheme, or if the document has
 * no schemes.
 */
export function readSecuritySchemes(document: Document): SecurityFields {
  const components = document.object(document.root.components);
  const written = document.members(components?.securitySchemes);
  const schemes = written.map(([, node]) => document.object(node)).filter((scheme) => scheme !== null);
  if (schemes.length === 0) return { carriers: USUAL_CARRIERS, sharesAuthorization: false, isForGateway: false };
  const named = schemes.flatMap((scheme) => (scheme.type === 'apiKey' && scheme.in === 'header' ? [scheme.name] : []));
  const isKnown = (name: string) => (other: unknown) => String(other).toLowerCase() === name.toLowerCase();
  const [usual] = USUAL_CARRIERS.headers;
  const own = [...new Set(named)].filter((name): name is string => typeof name === 'string' && isOwnHeader(name));
  const bearer = schemes.some(isBearer) || named.some(isKnown('authorization'));
  const isForGateway = own.some(isKnown(usual!));
  return {
    carriers: { headers: isForGateway ? own : [...own, usual!], bearer },
    sharesAuthorization: bearer && !isForGateway,
    isForGateway,
  };
}

const isBearer = ({ type, scheme }: Json): boolean => type === 'http' && String(scheme).toLowerCase() === 'bearer';

/**
 * Empty security requirements, or one that is empty (OpenAPI 3.1, Operation Object, `security`). An operation that
 * requires scopes needs a key.
 */
export function isPublic(
  document: Document,
  node: Json,
  requiredScopes: readonly string[],
  findings: Findings,
): boolean {
  const security = node.security ?? document.root.security;
  if (!Array.isArray(security)) return false;
  const needsNone = security.length === 0 || security.some((one) => isObject(one) && Object.keys(one).length === 0);
  if (!needsNone || requiredScopes.length === 0) return needsNone;
  findings.note(node, REQUIRED_SCOPES, 'needs a key, although `security` needs none: requests without a key get 401');
  return false;
}
