import { FIELD_SECTION, faultInFields } from './grammar.ts';
import { malformed } from './wire-error.ts';

/**
 * The fields of one message: checked, and with what framing needs from them. Nobody else looks at Content-Length,
 * Transfer-Encoding or Connection to tell where a message or a connection ends.
 */
export interface Fields {
  /** Flat, in order: name as it was spelt, value without the space around it, name, value, … One character per byte. */
  readonly list: readonly string[];
  /** Values of Content-Length and Transfer-Encoding, one per line; as they were sent, if there is a tab in them. */
  readonly lengths: readonly string[];
  readonly codings: readonly string[];
  /** Values of Host, one per line. */
  readonly hosts: readonly string[];
  /** Whether Connection names `close` or `keep-alive`. */
  readonly close: boolean;
  readonly keepAlive: boolean;
  /** What the owner of calls made of the fields: it stays with them, because most connections send the same ones again. */
  meaning: unknown;
}

const NONE: readonly string[] = Object.freeze([]);

/** Reads a field section with its empty line; `section` has one character per byte. Throws WireError. */
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
        if (isNamed(name, 'connection')) connection = connection === '' ? value : `${connection},${value}`;
        break;
      case 14:
        if (isNamed(name, 'content-length')) lengths = and(lengths, framingValue(section, colon + 1, lineEnd, value));
        break;
      case 17:
        if (isNamed(name, 'transfer-encoding'))
          codings = and(codings, framingValue(section, colon + 1, lineEnd, value));
        break;
    }
  }
  const { close, keepAlive } = persistence(connection);
  return { list, lengths, codings, hosts, close, keepAlive, meaning: null };
}

/** A tab around a value is space too, but not to every reader: where a body ends must not hang on it. */
function framingValue(section: string, from: number, to: number, value: string): string {
  const sent = section.slice(from, to);
  return sent.includes('\t') ? sent : value;
}

/** Mostly there is one. A copy for each more would take quadratic time. */
function and(values: readonly string[], value: string): readonly string[] {
  if (values === NONE) return [value];
  (values as string[]).push(value);
  return values;
}

/** Names that would change how a message is read, if anybody merged the trailers into its fields (RFC 9110 section 6.5.1). */
const NOT_IN_TRAILERS = new Set(['content-length', 'transfer-encoding', 'host', 'connection', 'trailer', 'upgrade']);

/** Checks the trailers of a chunked body, with their empty line. They are dropped. Throws WireError. */
export function checkTrailers(section: string): void {
  const { list } = readFields(section);
  for (let i = 0; i < list.length; i += 2) {
    if (NOT_IN_TRAILERS.has(list[i]!.toLowerCase()))
      throw malformed('A trailer has a name that only a header may have.');
  }
}

function isNamed(name: string, lowerCase: string): boolean {
  return name === lowerCase || name.toLowerCase() === lowerCase;
}

/** Spaces and tabs around a value are not part of it (RFC 9112 section 5.1). */
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

/** RFC 9110 section 7.6.1: a list of options, without regard to case. */
function persistence(connection: string): Pick<Fields, 'close' | 'keepAlive'> {
  if (connection === '') return { close: false, keepAlive: false };
  if (connection === 'keep-alive') return { close: false, keepAlive: true };
  const options = listed(connection.toLowerCase());
  return { close: options.includes('close'), keepAlive: options.includes('keep-alive') };
}

/** The elements of a list without the space around them. `trim` would take a no-break space and others for space too. */
export function listed(value: string): string[] {
  return value.split(',').map((one) => trimmed(one, 0, one.length));
}
