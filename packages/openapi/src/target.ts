import { decoded } from './document/source.ts';
import { canonicalPath, normalPath } from './path.ts';

export interface Target {
  /** Origin-form, in the bytes that were sent. Nothing is decided on it. */
  readonly raw: string;
  /** Canonical, see `canonicalPath`. */
  readonly path: string;
  /** Normal, see `normalPath`: it has the values of parameters. */
  readonly written: string;
  /** Without `?`. */
  readonly query: string;
}

/** What may be data within a segment. */
export interface TargetRules {
  readonly encodedSlash: 'refuse' | 'pass';
  readonly semicolon: 'refuse' | 'pass';
}

/** What two readers could read differently. */
export interface TargetFlaw {
  readonly in: 'path' | 'query';
  /** The end of the sentence "the path …". */
  readonly message: string;
  /** A sentence without its full stop. */
  readonly advice: string;
  /** That lets it pass. */
  readonly rule?: keyof TargetRules;
}

type Flaw = Omit<TargetFlaw, 'in'>;

const WRONG_CHARACTER: Flaw = {
  message: 'has a character that URLs cannot contain',
  advice: 'Percent-encode it',
};

export const AMBIGUOUS: Flaw = {
  message:
    'has an encoded character, such as %3A, by which servers find different operations or values',
  advice: 'Send the character itself',
};

const STRICT: TargetRules = { encodedSlash: 'refuse', semicolon: 'refuse' };

/** It needs no further check. */
const PLAIN_PATH = /^(?:\/[A-Za-z0-9_~-]+)+$/;
/** RFC 3986 section 3.3. */
const PATH_CHARACTERS = /^[A-Za-z0-9\-._~!$&'()*+,;=:@%/]*$/;
/** RFC 3986 section 3.4, and the brackets, bars and braces that clients send unencoded. */
const QUERY_CHARACTERS = /^[!$-;=?-Z[\]_a-z{|}~^`]*$/;
const INCOMPLETE = /%(?![0-9A-Fa-f]{2})/;
const ENCODED_CONTROL = /%(?:[01][0-9A-F]|7F)/;
const ENCODED_END = /%(?:23|3F|5C)/;
/** Also for a backend that takes `%2F` for `/`, or that ends a segment at `;` or `%3B`. */
const DOT_SEGMENT = /(?:\/|%2F)\.{1,2}(?:\/|%2F|;|%3B|$)/;
const ONLY_PARAMETERS = /(?:\/|%2F)(?:;|%3B)/;

/**
 * Of a path or URL (RFC 9112 section 3.2). The authority is dropped: a client never chooses the
 * backend.
 */
export function targetOf(url: string, rules = STRICT): Target | TargetFlaw {
  const raw = url.startsWith('/') ? url : withoutAuthority(url);
  if (raw === null)
    return {
      in: 'path',
      message: 'does not begin with "/"',
      advice: 'Send a path that does',
    };
  const mark = raw.indexOf('?');
  const sent = mark < 0 ? raw : raw.slice(0, mark);
  const query = mark < 0 ? '' : raw.slice(mark + 1);
  if (!QUERY_CHARACTERS.test(query)) return { in: 'query', ...WRONG_CHARACTER };
  if (PLAIN_PATH.test(sent)) return { raw, path: sent, written: sent, query };
  if (!PATH_CHARACTERS.test(sent)) return { in: 'path', ...WRONG_CHARACTER };
  const isEncoded = sent.includes('%');
  const written = isEncoded ? normalPath(sent) : sent;
  const flaw =
    (isEncoded ? flawOfEncoding(sent, written) : null) ??
    flawOf(written, rules);
  if (flaw !== null) return { in: 'path', ...flaw };
  const path = isEncoded ? canonicalPath(written) : written;
  return { raw, path, written, query };
}

function withoutAuthority(url: string): string | null {
  const match = /^https?:\/\/[^/?#]+/i.exec(url);
  if (!match) return null;
  const rest = url.slice(match[0].length);
  return rest.startsWith('/') ? rest : `/${rest}`;
}

function flawOf(written: string, rules: TargetRules): Flaw | null {
  if (written.includes('//'))
    return {
      message: 'has an empty segment ("//")',
      advice: 'Send a single "/"',
    };
  if (DOT_SEGMENT.test(written))
    return {
      message: 'has a dot segment ("." or "..")',
      advice: 'Send the path without it',
    };
  if (rules.encodedSlash === 'refuse' && written.includes('%2F'))
    return ambiguous('an encoded "/" (%2F)', 'encodedSlash');
  if (rules.semicolon === 'refuse' && /;|%3B/.test(written))
    return ambiguous('a ";" (also as %3B)', 'semicolon');
  if (ONLY_PARAMETERS.test(written))
    return {
      message: 'has a segment that begins with ";"',
      advice: 'Remove the ";", or put text before it',
    };
  return null;
}

function flawOfEncoding(sent: string, written: string): Flaw | null {
  if (INCOMPLETE.test(sent))
    return {
      message: 'has an incomplete percent-encoding',
      advice: 'Send "%" as %25, or with two hexadecimal digits',
    };
  if (ENCODED_CONTROL.test(written))
    return {
      message: 'has an encoded control character',
      advice: 'Remove it',
    };
  const [end] = ENCODED_END.exec(written) ?? [];
  if (end !== undefined)
    return {
      message: `has an encoded "${decodeURIComponent(end)}"`,
      advice: 'Remove it, or send the value in the query',
    };
  if (decoded(written) === undefined)
    return {
      message: 'has a percent-encoding that is not UTF-8',
      advice: 'Encode the text as UTF-8 first',
    };
  return null;
}

function ambiguous(what: string, rule: keyof TargetRules): Flaw {
  return {
    message: `has ${what}, which servers read in different ways`,
    advice: 'Remove it',
    rule,
  };
}
