import { type Fields, readFields } from './fields.ts';
import {
  claimsBodyOf204,
  type Framing,
  framingOfRequest,
  framingOfResponse,
} from './framing.ts';
import { IS_TARGET, IS_TOKEN, REQUEST_LINE, STATUS_LINE } from './grammar.ts';
import { malformed, WireError } from './wire-error.ts';

// Importing node:http loads undici, 14 MB.
const { METHODS } = process.getBuiltinModule('node:http');

export interface Head {
  readonly minor: 0 | 1;
  readonly fields: Fields;
  readonly framing: Framing;
  /** RFC 9112 section 9.3. */
  readonly persistent: boolean;
}

export interface RequestHead extends Head {
  readonly method: string;
  readonly target: string;
  readonly framing: number | 'chunked';
}

export interface ResponseHead extends Head {
  readonly status: number;
  readonly reason: string;
}

const KNOWN_METHODS = new Set(METHODS);
/** RFC 3986 section 3.2 without user information, with the port. */
const AUTHORITY =
  /^(?:[A-Za-z0-9._~!$&'()*+,;=%-]+|\[[0-9A-Fa-f:.]+\])(?::\d{0,5})?$/;
const ABSOLUTE = /^https?:\/\/([^/?#]*)/i;
const LONGEST_REMEMBERED = 2_048;

/** Usually repeats the fields of the message before. */
class LastFields {
  #section = '';
  #fields: Fields | null = null;

  /** Throws WireError. */
  read(section: string): Fields {
    if (this.#fields !== null && section === this.#section) return this.#fields;
    const fields = readFields(section);
    const remembers = section.length <= LONGEST_REMEMBERED;
    this.#section = remembers ? section : '';
    this.#fields = remembers ? fields : null;
    return fields;
  }
}

/** Of one connection. */
export class RequestHeads {
  readonly #last = new LastFields();

  /**
   * With the empty line; one character per byte. Throws WireError if two readers could read it
   * differently.
   */
  read(text: string): RequestHead {
    const lineEnd = text.indexOf('\r\n');
    const line = REQUEST_LINE.exec(text.slice(0, lineEnd));
    if (line === null) throw malformed(faultInLine(text.slice(0, lineEnd)));
    const [, method, target, major, digit] = line as unknown as [
      string,
      string,
      string,
      string,
      string,
    ];
    // Invalid fields are reported first, as they are when the head is incomplete.
    const fields = this.#last.read(text.slice(lineEnd + 2));
    if (major !== '1' || (digit !== '0' && digit !== '1'))
      throw new WireError(
        'version',
        'The version is not HTTP/1.1 or HTTP/1.0.',
      );
    if (!KNOWN_METHODS.has(method)) throw unknownMethod(method);
    const minor = digit === '0' ? 0 : 1;
    checkTarget(method, target, hostOf(fields, minor));
    const framing = framingOfRequest(fields, minor);
    return {
      method,
      target,
      minor,
      fields,
      framing,
      persistent: isPersistent(fields, minor),
    };
  }
}

/** Of one connection. */
export class ResponseHeads {
  readonly #last = new LastFields();

  /** `method`: of the request. Throws WireError as for requests. */
  read(text: string, method: string): ResponseHead {
    const lineEnd = text.indexOf('\r\n');
    const line = STATUS_LINE.exec(text.slice(0, lineEnd));
    if (line === null)
      throw malformed('The status line is not well-formed HTTP/1.1.');
    const [, digit, digits, reason = ''] = line as unknown as [
      string,
      string,
      string,
      string | undefined,
    ];
    const status = Number(digits);
    if (status > 599) throw malformed(`The status is ${status}.`);
    const fields = this.#last.read(text.slice(lineEnd + 2));
    const minor = digit === '0' ? 0 : 1;
    const framing = framingOfResponse(fields, minor, method, status);
    const endsClearly =
      framing !== 'until_close' && !claimsBodyOf204(fields, status);
    return {
      status,
      reason,
      minor,
      fields,
      framing,
      persistent: endsClearly && isPersistent(fields, minor),
    };
  }
}

/** RFC 9112 section 9.3: by default in HTTP/1.1, only on request in HTTP/1.0. */
function isPersistent({ close, keepAlive }: Fields, minor: 0 | 1): boolean {
  return !close && (minor === 1 || keepAlive);
}

/** RFC 9112 section 3.2: exactly one valid Host, optional in HTTP/1.0. */
function hostOf({ hosts }: Fields, minor: 0 | 1): string | undefined {
  if (hosts.length === 0 && minor === 0) return undefined;
  if (hosts.length === 0)
    throw malformed('The Host header is missing. Send one.');
  if (hosts.length > 1)
    throw malformed('The Host header is repeated. Send it once.');
  if (!AUTHORITY.test(hosts[0]!))
    throw malformed(
      'The Host header is not valid. Send a host name and, if it is not the default, a port.',
    );
  return hosts[0]!;
}

/**
 * RFC 9112 section 3.2. A target in absolute-form must match Host, because readers differ in which
 * one they use.
 */
function checkTarget(
  method: string,
  target: string,
  host: string | undefined,
): void {
  // The owner of the server refuses CONNECT.
  if (method === 'CONNECT') return;
  if (target.charCodeAt(0) === 0x2f) return;
  if (target === '*' && method === 'OPTIONS') return;
  const authority = ABSOLUTE.exec(target)?.[1];
  if (authority === undefined || !AUTHORITY.test(authority)) {
    throw malformed(
      'The request target is not a path. Send a path that starts with "/".',
    );
  }
  if (host !== undefined && authority.toLowerCase() !== host.toLowerCase()) {
    throw malformed(
      'The request target names another host than the Host header. Send the same host, or only the path.',
    );
  }
}

/** Describes the fault without quoting the line. */
function faultInLine(line: string): string {
  const [method = '', target = '', ...others] = line.split(' ');
  if (others.length === 1 && method !== '' && !IS_TOKEN.test(method))
    return 'The method has an invalid character. Send a method such as GET.';
  if (others.length === 1 && target !== '' && !IS_TARGET.test(target))
    return 'The request target has a character that URLs cannot contain, or a "#". Percent-encode it.';
  return 'The request line is not valid. Send a method, a target and a version, with one space between them.';
}

/** Only a plain word is quoted: anything else could be a secret in the wrong place. */
function unknownMethod(method: string): WireError {
  const shown = /^[A-Z-]{1,20}$/.test(method)
    ? `Method ${method}`
    : 'The method';
  return new WireError('method', `${shown} is not supported.`);
}
