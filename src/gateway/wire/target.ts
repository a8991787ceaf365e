import { Refusal } from '../../errors/refusals.ts';

export interface RequestTarget {
  /** Percent-encoded only where necessary, with upper-case hex digits. */
  readonly path: string;
  /** Without `?`. */
  readonly query: string;
}

/** It needs no further check. */
const PLAIN_PATH = /^(?:\/[A-Za-z0-9_~-]+)+$/;
/** RFC 3986 section 3.3 without `;`: servers read its parameters in different ways. */
const PATH_CHARACTERS = /^[A-Za-z0-9\-._~!$&'()*+,=:@%/]*$/;
/** RFC 3986 section 3.4, and the brackets, bars and braces that clients send unencoded. */
const QUERY_CHARACTERS = /^[!$-;=?-Z[\]_a-z{|}~^`]*$/;
const UNRESERVED = /^[A-Za-z0-9\-._~]$/;

/**
 * RFC 9112 section 3.2. The authority is dropped: a client never chooses the upstream. Throws a Refusal for a target
 * that two readers might read differently.
 */
export function parseTarget(url: string): RequestTarget {
  const target = url.startsWith('/') ? url : withoutAuthority(url);
  const mark = target.indexOf('?');
  const path = mark < 0 ? target : target.slice(0, mark);
  const query = mark < 0 ? '' : target.slice(mark + 1);
  if (!QUERY_CHARACTERS.test(query)) throw malformed('The query has a character that must be percent-encoded.');
  return { path: PLAIN_PATH.test(path) ? path : canonicalPath(path), query };
}

function withoutAuthority(url: string): string {
  const match = /^https?:\/\/[^/?#]+/i.exec(url);
  if (!match) throw malformed('The request target must be a path that starts with "/".');
  const rest = url.slice(match[0].length);
  return rest.startsWith('/') ? rest : `/${rest}`;
}

function canonicalPath(path: string): string {
  if (!PATH_CHARACTERS.test(path)) throw malformed('The path has a character that must be percent-encoded.');
  if (path.includes('//')) throw malformed('The path has an empty segment ("//").');
  const canonical = path.replace(/%(..?)?/g, normaliseTriplet);
  checkUtf8(canonical);
  if (/\/\.{1,2}(?:\/|$)/.test(canonical)) throw malformed('The path has a dot segment ("." or "..").');
  return canonical;
}

/** RFC 3986 section 6.2.2. Refuses what could end or split a segment. */
function normaliseTriplet(triplet: string): string {
  if (!/^%[0-9A-Fa-f]{2}$/.test(triplet)) throw malformed('The path has an incomplete percent-encoding.');
  const byte = Number.parseInt(triplet.slice(1), 16);
  if (byte < 0x20 || byte === 0x7f) throw malformed('The path has an encoded control character.');
  const character = String.fromCharCode(byte);
  if ('/\\;?#'.includes(character)) throw malformed(`The path has an encoded "${character}".`);
  return UNRESERVED.test(character) ? character : triplet.toUpperCase();
}

function checkUtf8(path: string): void {
  try {
    decodeURIComponent(path);
  } catch {
    throw malformed('The path has a percent-encoding that is not UTF-8.');
  }
}

function malformed(message: string): Refusal {
  return new Refusal('malformed_request', { message });
}
