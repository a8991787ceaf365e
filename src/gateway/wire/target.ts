import { Refusal } from '../../common/errors/refusals.ts';
import type { Config } from '../../config/config.ts';

export interface RequestTarget {
  /** Origin-form, in the bytes that the client sent. Backends get it; nothing is decided on it. */
  readonly raw: string;
  /**
   * Equivalent to that of `raw` (RFC 3986 section 6.2.2): percent-encoded only where necessary, in
   * upper case.
   */
  readonly path: string;
  /** Without `?`. */
  readonly query: string;
}

/** What may be data within a segment. */
export type PathRules = Pick<Config['contract'], 'encodedSlash' | 'semicolon'>;

const STRICT: PathRules = { encodedSlash: 'refuse', semicolon: 'refuse' };

/** It needs no further check. */
const PLAIN_PATH = /^(?:\/[A-Za-z0-9_~-]+)+$/;
/** RFC 3986 section 3.3. */
const PATH_CHARACTERS = /^[A-Za-z0-9\-._~!$&'()*+,;=:@%/]*$/;
/** RFC 3986 section 3.4, and the brackets, bars and braces that clients send unencoded. */
const QUERY_CHARACTERS = /^[!$-;=?-Z[\]_a-z{|}~^`]*$/;
const UNRESERVED = /^[A-Za-z0-9\-._~]$/;
/** Also for a backend that takes `%2F` for `/`, or that ends a segment at `;` or `%3B`. */
const DOT_SEGMENT = /(?:\/|%2F)\.{1,2}(?:\/|%2F|;|%3B|$)/;
const ONLY_PARAMETERS = /(?:\/|%2F)(?:;|%3B)/;

/**
 * RFC 9112 section 3.2. The authority is dropped: a client never chooses the upstream. Throws a
 * Refusal for a target that two readers might read differently.
 */
export function parseTarget(url: string, rules = STRICT): RequestTarget {
  const raw = url.startsWith('/') ? url : withoutAuthority(url);
  const mark = raw.indexOf('?');
  const path = mark < 0 ? raw : raw.slice(0, mark);
  const query = mark < 0 ? '' : raw.slice(mark + 1);
  if (!QUERY_CHARACTERS.test(query))
    throw malformed(
      'The query has a character that URLs cannot contain. Percent-encode it.',
    );
  return {
    raw,
    path: PLAIN_PATH.test(path) ? path : canonicalPath(path, rules),
    query,
  };
}

export const segmentsIn = (path: string): number => path.split('/').length - 1;

/**
 * Segments have the same number in every spelling of a path. The rest begins with `/` or `?`, or is
 * empty.
 */
export function afterSegments(raw: string, count: number): string {
  const mark = raw.indexOf('?');
  const end = mark < 0 ? raw.length : mark;
  let at = 0;
  for (let i = 0; i < count; i++) {
    const slash = raw.indexOf('/', at + 1);
    if (slash < 0 || slash > end) return raw.slice(end);
    at = slash;
  }
  return raw.slice(at);
}

function withoutAuthority(url: string): string {
  const match = /^https?:\/\/[^/?#]+/i.exec(url);
  if (!match)
    throw malformed(
      'The request target is not a path. Send a path that starts with "/".',
    );
  const rest = url.slice(match[0].length);
  return rest.startsWith('/') ? rest : `/${rest}`;
}

function canonicalPath(path: string, rules: PathRules): string {
  if (!PATH_CHARACTERS.test(path))
    throw malformed(
      'The path has a character that URLs cannot contain. Percent-encode it.',
    );
  if (path.includes('//'))
    throw malformed('The path has an empty segment ("//"). Send a single "/".');
  const canonical = path.replace(/%(..?)?/g, normaliseTriplet);
  checkUtf8(canonical);
  if (DOT_SEGMENT.test(canonical))
    throw malformed(
      'The path has a dot segment ("." or ".."). Send the path without it.',
    );
  if (rules.encodedSlash === 'refuse' && canonical.includes('%2F')) {
    throw malformed(ambiguous('an encoded "/" (%2F)', 'encodedSlash'));
  }
  if (rules.semicolon === 'refuse' && /;|%3B/.test(canonical)) {
    throw malformed(ambiguous('a ";" (also as %3B)', 'semicolon'));
  }
  if (ONLY_PARAMETERS.test(canonical))
    throw malformed(
      'The path has a segment that begins with ";". Remove the ";", or put text before it.',
    );
  return canonical;
}

/** RFC 3986 section 6.2.2. Refuses what could end a path, or is a slash to some servers. */
function normaliseTriplet(triplet: string): string {
  if (!/^%[0-9A-Fa-f]{2}$/.test(triplet))
    throw malformed(
      'The path has an incomplete percent-encoding. Send "%" as %25, or with two hexadecimal digits.',
    );
  const byte = Number.parseInt(triplet.slice(1), 16);
  if (byte < 0x20 || byte === 0x7f)
    throw malformed('The path has an encoded control character. Remove it.');
  const character = String.fromCharCode(byte);
  if ('\\?#'.includes(character))
    throw malformed(
      `The path has an encoded "${character}". Remove it, or send the value in the query.`,
    );
  return UNRESERVED.test(character) ? character : triplet.toUpperCase();
}

function checkUtf8(path: string): void {
  try {
    decodeURIComponent(path);
  } catch {
    throw malformed(
      'The path has a percent-encoding that is not UTF-8. Encode the text as UTF-8 first.',
    );
  }
}

function ambiguous(what: string, setting: keyof PathRules): string {
  return (
    `The path has ${what}, which servers read in different ways. ` +
    `Remove it, or ask the API operator to set contract.${setting}.`
  );
}

function malformed(message: string): Refusal {
  return new Refusal('malformed_request', { message });
}
