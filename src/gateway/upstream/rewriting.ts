import type { Mount } from '../../config/config.ts';
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
 * `null`: paths stay unchanged.
 *
 * @param urls of the backends
 */
export function mountRewriting(
  { path, stripPrefix, rewrite: other }: Mount,
  urls: readonly string[],
): Rewriting | null {
  const rewrite = stripPrefix ? '' : other;
  if (rewrite === null) return null;
  const prefix = path === '/' ? '' : path;
  const segments = segmentsIn(prefix);
  const bases = urls.map((text): Base => {
    const { origin, protocol, pathname } = new URL(text);
    return { origin, protocol, prefix: pathname.replace(/\/$/, '') + rewrite };
  });

  function returned(name: string, value: string): string {
    if (name === 'location' || name === 'content-location')
      return returnedPlace(value, prefix, bases);
    return name === 'set-cookie' ? returnedCookie(value, prefix, bases) : value;
  }

  return {
    targetOf({ raw }) {
      const rest = afterSegments(raw, segments);
      return rewrite === '' && !rest.startsWith('/')
        ? `/${rest}`
        : rewrite + rest;
    },
    prefix,
    response(response) {
      const { headers } = response;
      return {
        ...response,
        headers: headers.map((text, i) =>
          i % 2 === 0 ? text : returned(headers[i - 1]!, text),
        ),
      };
    },
  };
}

/**
 * A backend whose URL ends with a prefix already has it: http://backend/v1 gets /v1/pets, not
 * /v1/v1/pets. `null`: paths stay unchanged.
 *
 * @param prefixes longest first; `''`: none
 * @param urls of the backends
 */
export function prefixRewriting(
  prefixes: readonly string[],
  urls: readonly string[],
): Rewriting | null {
  const repeated = prefixes.filter((prefix) =>
    urls.every((url) => endsWithPath(url, prefix)),
  );
  if (repeated.length === 0) return null;
  return {
    targetOf({ raw, path }) {
      const prefix = repeated.find((one) => path.startsWith(`${one}/`));
      return prefix === undefined
        ? raw
        : afterSegments(raw, segmentsIn(prefix));
    },
    prefix: '',
    response: null,
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
  mountPath: string,
  bases: readonly Base[],
): string {
  if (OF_HOST.test(cookie)) return cookie;
  return cookie.replace(
    /;([ \t]*path[ \t]*=[ \t]*)([^;]*)/gi,
    (whole, name: string, value: string) => {
      const path = value.trimEnd();
      for (const { prefix } of bases) {
        const found = returnedPath(path, mountPath, prefix, false);
        if (found !== null)
          return `;${name}${path === '/' && mountPath !== '' ? mountPath : found}`;
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
  mountPath: string,
  prefix: string,
  isTheirs: boolean,
): string | null {
  if (!isIn(prefix, path) || /(?:^|\/)\.{1,2}(?:\/|$)/.test(path)) return null;
  if (prefix === '' && !isTheirs && isIn(mountPath, path)) return null;
  return mountPath + path.slice(prefix.length) || '/';
}

function isIn(prefix: string, path: string): boolean {
  return (
    path.startsWith('/') && (path === prefix || path.startsWith(`${prefix}/`))
  );
}
