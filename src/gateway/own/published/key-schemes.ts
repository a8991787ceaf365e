import { isObject, type Json } from '@storegate/openapi';
import type { KeyHeaders } from '../../../common/key-headers.ts';
import { isBearer } from '../../../config/contract/security.ts';

export interface KeySchemes {
  /** Schemes that the document lacks. */
  readonly added: Readonly<Json>;
  /** The requirements of an operation that needs a key, from those of its author. */
  readonly withKey: (security: unknown) => readonly Json[];
}

type Schemes = ReadonlyMap<string, Readonly<Json>>;

/** One of the author's schemes for each header that carries a key, or a new one. */
export function keySchemes(
  written: Schemes,
  { headers, bearer }: KeyHeaders,
  nameOf: (name: string) => string,
) {
  const added: Json = {};
  const nameFor = (
    isKey: (scheme: Readonly<Json>) => boolean,
    usual: string,
    scheme: Json,
  ): string => {
    const existing = [...written].find(([, one]) => isKey(one));
    if (existing !== undefined) return existing[0];
    const name = nameOf(usual);
    added[name] = scheme;
    return name;
  };
  const names = headers.map((header) => {
    const scheme = {
      type: 'apiKey',
      in: 'header',
      name: header,
      description: 'Your API key.',
    };
    return nameFor((one) => isHeader(one, header), 'gatewayKey', scheme);
  });
  const token = {
    type: 'http',
    scheme: 'bearer',
    description: 'Your API key as a bearer token.',
  };
  const bearerName = bearer ? nameFor(isBearer, 'gatewayBearer', token) : null;
  const carries = (scheme: Readonly<Json>) =>
    headers.some((header) => isHeader(scheme, header)) ||
    (bearer && isBearer(scheme));
  return {
    added,
    withKey: requirements({ written, names, bearerName, carries }),
  } satisfies KeySchemes;
}

interface RequirementParts {
  readonly written: Schemes;
  readonly names: readonly string[];
  readonly bearerName: string | null;
  readonly carries: (scheme: Readonly<Json>) => boolean;
}

function requirements({
  written,
  names,
  bearerName,
  carries,
}: RequirementParts): KeySchemes['withKey'] {
  const keys = bearerName === null ? names : [...names, bearerName];

  function alternatives(requirement: Json): Json[] {
    const entries = Object.entries(requirement).flatMap(([name, scopes]) => {
      const scheme = written.get(name);
      // The gateway takes every bearer token for a key.
      if (
        scheme === undefined ||
        (bearerName !== null && !carries(scheme) && isToken(scheme))
      )
        return [];
      return [[name, Array.isArray(scopes) ? scopes : []] as const];
    });
    const own = Object.fromEntries(
      entries.filter(([name]) => !carries(written.get(name)!)),
    );
    const hasAuthorization = Object.keys(own).some((name) =>
      usesAuthorization(written.get(name)!),
    );
    const possible = keys.filter(
      (name) => name !== bearerName || !hasAuthorization,
    );
    const all = possible.map((name) => ({ ...own, [name]: [] }));
    if (entries.some(([name]) => carries(written.get(name)!)))
      all.unshift(Object.fromEntries(entries));
    return all.length > 0 ? all : [{ [bearerName!]: [] }];
  }

  return (security) => {
    const given = Array.isArray(security) ? security.filter(isObject) : [];
    const all = (given.length > 0 ? given : [{}]).flatMap(alternatives);
    return [
      ...new Map(
        all.map((one) => [JSON.stringify(Object.entries(one).sort()), one]),
      ).values(),
    ];
  };
}

const isHeader = (
  { type, in: place, name }: Readonly<Json>,
  header: string,
): boolean =>
  type === 'apiKey' &&
  place === 'header' &&
  String(name).toLowerCase() === header.toLowerCase();

const usesAuthorization = (scheme: Readonly<Json>): boolean =>
  scheme.type === 'http' || isToken(scheme);

/** Sent as `Authorization: Bearer`. */
const isToken = (scheme: Readonly<Json>): boolean =>
  isBearer(scheme) ||
  scheme.type === 'oauth2' ||
  scheme.type === 'openIdConnect' ||
  isHeader(scheme, 'authorization');
