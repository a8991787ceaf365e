import { decoded } from './document/source.ts';
import { canonicalLiteral } from './template.ts';

export interface Target {
  /** Canonical (RFC 3986 section 6.2.2). */
  readonly path: string;
  /** Without `?`. */
  readonly query: string;
}

const ORIGIN = /^https?:\/\/[^/?#]+/i;
/** RFC 3986 section 3.3, without the semicolon. */
const PATH = /^\/(?:[A-Za-z0-9\-._~!$&'()*+,=:@/]|%[0-9A-Fa-f]{2})*$/;
/** RFC 3986 section 3.4, and the brackets, bars and braces that clients send unencoded. */
const QUERY = /^[!$-;=?-Z[\]_a-z{|}~^`]*$/;
/**
 * In a canonical path: empty and dot segments, and encoded control characters, `#`, `/`, `;`, `?`
 * and `\`.
 */
const AMBIGUOUS = /\/\/|\/\.{1,2}(?:\/|$)|%(?:[01][0-9A-F]|7F|23|2F|3B|3F|5C)/;

const PATH_COMPLAINT =
  'must be a percent-encoded path without empty or dot segments, semicolons and encoded delimiters';

/** Of a path or URL. Returns a complaint about what two servers might read differently. */
export function targetOf(
  url: string,
): Target | { readonly in: 'path' | 'query'; readonly message: string } {
  const rest = url.replace(ORIGIN, '');
  const mark = rest.indexOf('?');
  const written = (mark < 0 ? rest : rest.slice(0, mark)) || '/';
  const query = mark < 0 ? '' : rest.slice(mark + 1);
  const path = written.split('/').map(canonicalLiteral).join('/');
  if (
    !PATH.test(written) ||
    AMBIGUOUS.test(path) ||
    decoded(path) === undefined
  )
    return { in: 'path', message: PATH_COMPLAINT };
  if (!QUERY.test(query))
    return {
      in: 'query',
      message: 'has a character that must be percent-encoded',
    };
  return { path, query };
}
