import { isIP } from 'node:net';
import { asciiHost } from '../../common/ascii-host.ts';
import { isAmong } from '../../common/clients/address.ts';
import { parseCidr } from '../../common/ip.ts';
import { isOwnHeader } from '../../common/key-headers.ts';
import { isRemote } from '../contract/place.ts';

const MAX_PAIRS_LENGTH = 8_192;
const MAX_PAIRS = 64;

function isHost(text: string): boolean {
  // Digits and dots alone are an IPv4 address or a mistake, never a name.
  if (isIP(text) !== 0 || /^[0-9.]+$/.test(text)) return isIP(text) !== 0;
  return (
    text.length <= 253 &&
    text
      .split('.')
      .every((label) => /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i.test(label))
  );
}

/** 127.0.0.0/8, ::1 and `localhost`. */
export function isLoopback(host: string): boolean {
  return host.toLowerCase() === 'localhost' || isAmong(LOOPBACK, host);
}

const LOOPBACK = ['127.0.0.0/8', '::1'];

/** An origin and optional base path without credentials, query or fragment. */
export function isHttpUrl(text: string): boolean {
  // `URL` accepts spaces, tabs, backslashes and missing slashes.
  return /^https?:\/\/[^\s\\?#@]+$/i.test(text) && URL.canParse(text);
}

/**
 * OpenTelemetry: W3C Baggage, values percent-encoded; the last of equal keys counts. `null` if
 * invalid.
 */
export function readPairs(
  text: string,
): Readonly<Record<string, string>> | null {
  if (text.length > MAX_PAIRS_LENGTH) return null;
  const pairs: Record<string, string> = Object.create(null);
  const members = text.split(',').filter((member) => member.trim() !== '');
  if (members.length === 0 || members.length > MAX_PAIRS) return null;
  for (const member of members) {
    const at = member.indexOf('=');
    const key = member.slice(0, at).trim();
    const value = decoded(member.slice(at + 1).trim());
    if (at < 0 || key === '' || value === null) return null;
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused.
    if (/[\x00-\x1f\x7f]/.test(key + value)) return null;
    pairs[key] = value;
  }
  return pairs;
}

/** RFC 9110 section 5.5, without obsolete text. */
export const isFieldValue = (text: string): boolean =>
  /^[!-~](?:[\t -~]{0,4094}[!-~])?$/.test(text);

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** By the name of the format in the schema. */
export const formats = {
  host: isHost,
  /** An IPv6 address is in brackets. */
  'host-port': (text: string) => {
    const [, name = '', port] =
      /^(\[[0-9a-f:.]+\]|[^\s:]+):([1-9][0-9]{0,4})$/i.exec(text) ?? [];
    return (
      port !== undefined &&
      Number(port) <= 65_535 &&
      isHost(name.replace(/^\[|\]$/g, ''))
    );
  },
  'http-url': isHttpUrl,
  /** Several with commas between them. */
  'http-urls': (text: string) =>
    text.split(',').every((url) => isHttpUrl(url.trim())),
  /** Without credentials. */
  'web-link': (text: string) =>
    /^https?:\/\/[^\s\\@/]+([/?#][^\s\\]*)?$/i.test(text) &&
    text.length <= 2_000 &&
    URL.canParse(text),
  /** `redis[s]://[[user]:password@]host[:port][/database]`, without options. */
  'redis-url': (text: string) => {
    if (!/^rediss?:\/\/[^\s\\?#]+$/.test(text) || !URL.canParse(text))
      return false;
    const { hostname, pathname } = new URL(text);
    return hostname !== '' && /^(\/[0-9]{0,5})?$/.test(pathname);
  },
  /** A path, a URL without credentials, query and fragment, or `none`. */
  contract: (text: string) => !isRemote(text) || isHttpUrl(text),
  /** A name (RFC 1123 section 2.1), also an international one; `*.` begins a wildcard. */
  'api-host': (text: string) => {
    const ascii = asciiHost(text);
    return (
      isHost(ascii.replace(/^\*\./, '')) && !isIP(text.replace(/^\*\./, ''))
    );
  },
  'own-header': isOwnHeader,
  'field-value': isFieldValue,
  /** A word such as `bearer` is a scheme, not a header. */
  'key-header': (text: string) =>
    /^authorization$/i.test(text) ||
    (isOwnHeader(text) && text.toLowerCase() !== 'bearer'),
  /**
   * An address, or a block that begins with its first address (RFC 4632 section 3.1, RFC 4291
   * section 2.3).
   */
  'address-block': (text: string) => parseCidr(text) !== null,
  /** `*`, or an origin exactly as browsers send it (RFC 6454 section 6.2). */
  'web-origin': (text: string) => {
    if (text === '*') return true;
    if (/^https?:/.test(text))
      return URL.canParse(text) && new URL(text).origin === text;
    return /^[a-z][a-z0-9+.-]*:\/\/[a-z0-9._-]+(:[0-9]+)?$/.test(text);
  },
  /** OpenTelemetry's `key=value,key=value`. */
  'otel-pairs': (text: string) => readPairs(text) !== null,
  /** With names and values of HTTP fields (RFC 9110 section 5). */
  'otlp-headers': (text: string) => {
    const isField = ([name, value]: [string, string]) =>
      /^[\w!#$%&'*+.^`|~-]+$/.test(name) && /^[\x20-\x7e]*$/.test(value);
    const pairs = readPairs(text);
    return pairs !== null && Object.entries(pairs).every(isField);
  },
  /**
   * Plain http on this machine alone. No credentials, and no fragment, which no request carries.
   */
  'webhook-url': (text: string) => {
    if (
      !/^https?:\/\/[^\s\\#@]+$/i.test(text) ||
      text.length > 2_000 ||
      !URL.canParse(text)
    )
      return false;
    const { protocol, hostname } = new URL(text);
    return (
      protocol === 'https:' || isLoopback(hostname.replace(/^\[|\]$/g, ''))
    );
  },
  /** Standard Webhooks: `whsec_` and 24 to 64 bytes in base64. */
  'webhook-secret': (text: string) => {
    const encoded = text.replace(/^whsec_/, '');
    const bytes = Buffer.from(encoded, 'base64');
    return (
      text !== encoded &&
      bytes.length >= 24 &&
      bytes.length <= 64 &&
      bytes.toString('base64') === encoded
    );
  },
};
