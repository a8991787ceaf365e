import { endsWithPath } from '../../config/upstreams.ts';
import {
  afterSegments,
  type RequestTarget,
  segmentsIn,
} from '../wire/target.ts';
import type { BackendResponse } from './backend-response.ts';

/** For the targets of a route. */
export interface Rewriting {
  /** Returns the target for the backend, spelt as the client did. */
  readonly targetOf: (target: RequestTarget) => string;
  /** For X-Forwarded-Prefix; `''`: the backend needs none. */
  readonly prefix: string;
  /** `null`: responses stay unchanged. */
  readonly response: ((response: BackendResponse) => BackendResponse) | null;
}

interface Base {
  readonly origin: string;
  readonly protocol: string;
  readonly prefix: string;
}

/**
 * `null`: paths stay unchanged. A backend whose URL ends with a prefix already has it:
 * http://backend/v1 gets /v1/pets, not /v1/v1/pets.
 *
 * @param stripped the path of the API, which targets lack; `''`: none
 * @param prefixes of the contract, longest first; `''`: none
 * @param urls of the backends
 */
export function rewritingOf(
  stripped: string,
  prefixes: readonly string[],
  urls: readonly string[],
): Rewriting | null {
  const repeated = prefixes.filter((prefix) =>
    urls.every((url) => endsWithPath(url, prefix)),
  );
  if (repeated.length === 0 && stripped === '') return null;
  const [ending = ''] = repeated;
  const bases = urls.map((text): Base => {
    const { origin, protocol, pathname } = new URL(text);
    const base = pathname.replace(/\/+$/, '');
    return {
      origin,
      protocol,
      prefix: base.slice(0, base.length - ending.length),
    };
  });

  function returned(name: string, value: string): string {
    if (name === 'location' || name === 'content-location')
      return returnedPlace(value, stripped, bases);
    return name === 'set-cookie'
      ? returnedCookie(value, stripped, bases)
      : value;
  }

  return {
    targetOf({ raw, path }) {
      const prefix = repeated.find((one) => path.startsWith(`${one}/`));
      return prefix === undefined
        ? raw
        : afterSegments(raw, segmentsIn(prefix));
    },
    prefix: stripped,
    response:
      stripped === ''
        ? null
        : (response) => ({
            ...response,
            headers: response.headers.map((text, i) =>
              i % 2 === 0 ? text : returned(response.headers[i - 1]!, text),
            ),
          }),
  };
}

/** RFC 3986 section 4.1. References to other places stay unchanged. */
function returnedPlace(
  reference: string,
  prefix: string,
  bases: readonly Base[],
): string {
  const [authority = ''] = /^(?:https?:)?\/\/[^/?#]*/i.exec(reference) ?? [];
  const rest = reference.slice(authority.length);
  const path = /^[^?#]*/.exec(rest)![0];
  for (const base of bases) {
    if (authority !== '' && originOf(authority, base) !== base.origin) continue;
    const found = returnedPath(
      authority === '' ? path : path || '/',
      prefix,
      base.prefix,
      authority !== '',
    );
    if (found !== null) return found + rest.slice(path.length);
  }
  return reference;
}

function originOf(authority: string, { protocol }: Base): string | null {
  const url = authority.startsWith('//') ? protocol + authority : authority;
  return URL.canParse(url) ? new URL(url).origin : null;
}

/** Browsers accept these cookies only with `Path=/` (RFC 6265bis section 4.1.3.2). */
const OF_HOST = /^[ \t]*__Host-/i;

/** RFC 6265 section 4.1.2.4: with the target's path the browser would never send the cookie. */
function returnedCookie(
  cookie: string,
  apiPath: string,
  bases: readonly Base[],
): string {
  if (OF_HOST.test(cookie)) return cookie;
  return cookie.replace(
    /;([ \t]*path[ \t]*=[ \t]*)([^;]*)/gi,
    (whole, name: string, value: string) => {
      const path = value.trimEnd();
      for (const { prefix } of bases) {
        const found = returnedPath(path, apiPath, prefix, false);
        if (found !== null)
          return `;${name}${path === '/' && apiPath !== '' ? apiPath : found}`;
      }
      return whole;
    },
  );
}

/**
 * `null`: not below the prefix. `isTheirs`: certainly a path of the target. Targets that know
 * X-Forwarded-Prefix return client paths; only without a prefix are the two alike.
 */
function returnedPath(
  path: string,
  apiPath: string,
  prefix: string,
  isTheirs: boolean,
): string | null {
  if (!isIn(prefix, path) || /(?:^|\/)\.{1,2}(?:\/|$)/.test(path)) return null;
  if (prefix === '' && !isTheirs && isIn(apiPath, path)) return null;
  return apiPath + path.slice(prefix.length) || '/';
}

function isIn(prefix: string, path: string): boolean {
  return (
    path.startsWith('/') && (path === prefix || path.startsWith(`${prefix}/`))
  );
}
