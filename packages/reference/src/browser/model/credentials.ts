import type { Api } from './api.ts';
import type { SecurityScheme } from './document.ts';
import type { Credentials, Pair } from './request.ts';

/** Headers that carry a key, the preferred one first; Authorization as a bearer token. */
export type KeyHeaders = readonly string[];

export const keyField = ([header = '']: KeyHeaders, secret: string): Pair =>
  header === 'Authorization' ? [header, `Bearer ${secret}`] : [header, secret];

/** Whether the gateway takes what this scheme sends for its own key. */
function isKey(
  { type, scheme = '', in: place, name = '' }: SecurityScheme,
  headers: KeyHeaders,
) {
  if (type === 'apiKey') return place === 'header' && hasHeader(headers, name);
  const isToken = type !== 'http' || scheme.toLowerCase() === 'bearer';
  return isToken && hasHeader(headers, 'authorization');
}

const hasHeader = (headers: KeyHeaders, name: string): boolean =>
  headers.some((header) => header.toLowerCase() === name.toLowerCase());

/** The schemes of the API itself, beside the gateway's key, that some operation needs. */
export function ownSchemes(
  api: Api,
  headers: KeyHeaders,
): ReadonlyMap<string, SecurityScheme> {
  const needed = new Set(
    [...api.rows.values()].flat().flatMap((row) => api.schemes(row)),
  );
  const all = Object.entries(api.root.components?.securitySchemes ?? {});
  const found = all.map(([name, node]) => [name, api.resolve(node)] as const);
  return new Map(
    found.filter(
      ([name, one]) =>
        needed.has(name) && one.type !== 'mutualTLS' && !isKey(one, headers),
    ),
  );
}

/** `secretOf`: the secret of a scheme by its name, if there is one. */
export function credentialsOf(
  schemes: ReadonlyMap<string, SecurityScheme>,
  names: readonly string[],
  key: Pair | null,
  secretOf: (scheme: string) => string | null,
): Credentials {
  const headers: Pair[] = key === null ? [] : [key];
  const query: Pair[] = [];
  const cookies: Pair[] = [];
  for (const name of names) {
    const scheme = schemes.get(name);
    const secret = secretOf(name);
    if (scheme === undefined || secret === null) continue;
    if (scheme.type !== 'apiKey')
      headers.push([
        'Authorization',
        `${isBasic(scheme) ? 'Basic' : 'Bearer'} ${secret}`,
      ]);
    else if (scheme.in === 'header') headers.push([scheme.name!, secret]);
    else (scheme.in === 'query' ? query : cookies).push([scheme.name!, secret]);
  }
  return { headers, query, cookies };
}

export const isBasic = ({ type, scheme = '' }: SecurityScheme): boolean =>
  type === 'http' && scheme.toLowerCase() === 'basic';

/** The credentials of `user:password` (RFC 7617). */
export const basicToken = (text: string): string =>
  btoa(String.fromCharCode(...new TextEncoder().encode(text)));
