import { FIELD_SECTION, faultInFields } from './grammar.ts';
import { malformed } from './wire-error.ts';

/**
 * No other code reads Content-Length, Transfer-Encoding or Connection to find where a message or
 * connection ends.
 */
export interface Fields {
  /** Name as received, trimmed value, … One character per byte. */
  readonly list: readonly string[];
  /** One per line; untrimmed if they contain a tab. */
  readonly lengths: readonly string[];
  readonly codings: readonly string[];
  /** One per line. */
  readonly hosts: readonly string[];
  readonly close: boolean;
  readonly keepAlive: boolean;
  /** Most connections repeat the same fields. */
  meaning: unknown;
}

const NONE: readonly string[] = Object.freeze([]);

/** With its empty line; one character per byte. Throws WireError. */
export function readFields(section: string): Fields {
  if (!FIELD_SECTION.test(section)) throw faultInFields(section);
  const list: string[] = [];
  let lengths = NONE;
  let codings = NONE;
  let hosts = NONE;
  let connection = '';
  const end = section.length - 2;
  for (let at = 0; at < end; ) {
    const colon = section.indexOf(':', at);
    const lineEnd = section.indexOf('\r\n', colon);
    const name = section.slice(at, colon);
    const value = trimmed(section, colon + 1, lineEnd);
    list.push(name, value);
    at = lineEnd + 2;
    switch (name.length) {
      case 4:
        if (isNamed(name, 'host')) hosts = and(hosts, value);
        break;
      case 10:
        if (isNamed(name, 'connection'))
          connection = connection === '' ? value : `${connection},${value}`;
        break;
      case 14:
        if (isNamed(name, 'content-length'))
          lengths = and(
            lengths,
            framingValue(section, colon + 1, lineEnd, value),
          );
        break;
      case 17:
        if (isNamed(name, 'transfer-encoding'))
          codings = and(
            codings,
            framingValue(section, colon + 1, lineEnd, value),
          );
        break;
    }
  }
  const { close, keepAlive } = persistence(connection);
  return { list, lengths, codings, hosts, close, keepAlive, meaning: null };
}

/**
 * Not every reader treats a tab around a value as whitespace; the end of a body must not depend on
 * it.
 */
function framingValue(
  section: string,
  from: number,
  to: number,
  value: string,
): string {
  const sent = section.slice(from, to);
  return sent.includes('\t') ? sent : value;
}

/** A copy per value would take quadratic time. */
function and(values: readonly string[], value: string): readonly string[] {
  if (values === NONE) return [value];
  (values as string[]).push(value);
  return values;
}

/**
 * Names that would change how a message is read if trailers were merged into its fields (RFC 9110
 * section 6.5.1).
 */
const NOT_IN_TRAILERS = new Set([
  'content-length',
  'transfer-encoding',
  'host',
  'connection',
  'trailer',
  'upgrade',
]);

/** With their empty line. Throws WireError. */
export function checkTrailers(section: string): void {
  const { list } = readFields(section);
  for (let i = 0; i < list.length; i += 2) {
    if (NOT_IN_TRAILERS.has(list[i]!.toLowerCase()))
      throw malformed(
        'A trailer has a name that only a header may have. Send it as a header.',
      );
  }
}

function isNamed(name: string, lowerCase: string): boolean {
  return name === lowerCase || name.toLowerCase() === lowerCase;
}

/** RFC 9112 section 5.1. */
function trimmed(text: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isSpace(text.charCodeAt(start))) start++;
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

/** RFC 9110 section 7.6.1: a case-insensitive list. */
function persistence(connection: string): Pick<Fields, 'close' | 'keepAlive'> {
  if (connection === '') return { close: false, keepAlive: false };
  if (connection === 'keep-alive') return { close: false, keepAlive: true };
  const options = listed(connection.toLowerCase());
  return {
    close: options.includes('close'),
    keepAlive: options.includes('keep-alive'),
  };
}

/** `trim` would also remove a no-break space and others. */
export function listed(value: string): string[] {
  return value.split(',').map((one) => trimmed(one, 0, one.length));
}
