import { foldedName } from './field-list.ts';

/** The headers that may carry a key. */
export interface KeyHeaders {
  /** Names as written, the preferred one first. */
  readonly headers: readonly string[];
  /** Whether `Authorization: Bearer` carries the key. */
  readonly bearer: boolean;
}

/** The headers if neither settings nor contract name any. */
export const DEFAULT_KEY_HEADERS: KeyHeaders = {
  headers: ['X-API-Key'],
  bearer: true,
};

/** How a client sends a key: in the preferred header, or as a bearer token. */
export function keyField(
  { headers: [name] }: KeyHeaders,
  key: string,
): readonly [name: string, value: string] {
  return name === undefined ? ['Authorization', `Bearer ${key}`] : [name, key];
}

/** The preferred header first; Authorization stands for a bearer token. */
export const keyHeaders = ({
  headers,
  bearer,
}: KeyHeaders): readonly string[] =>
  bearer ? [...headers, 'Authorization'] : headers;

/** Completes "Send it …". */
export function keyHeadersText({ headers, bearer }: KeyHeaders): string {
  const [last, ...rest] = headers.map((name) => `\`${name}\``).reverse();
  const named =
    rest.length === 0
      ? `the header ${last}`
      : `one of the headers ${rest.reverse().join(', ')} and ${last}`;
  const token = 'as `Authorization: Bearer <key>`';
  if (last === undefined) return token;
  return bearer ? `in ${named}, or ${token}` : `in ${named}`;
}

const RESERVED = new Set([
  'authorization',
  'connection',
  'cookie',
  'date',
  'expect',
  'forwarded',
  'from',
  'host',
  'keep-alive',
  'origin',
  'pragma',
  'range',
  'referer',
  'te',
  'traceparent',
  'tracestate',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
  'x-request-id',
]);

/**
 * Whether a header can carry a key or an identity: HTTP, proxies and the gateway do not use it
 * themselves.
 */
export function isOwnHeader(name: string): boolean {
  if (!/^[a-z][\w-]{0,63}$/i.test(name)) return false;
  const meant = foldedName(name);
  return (
    !RESERVED.has(meant) &&
    !/^(?:accept|access-control|cache|content|http2|if|proxy|sec)(?:-|$)/.test(
      meant,
    )
  );
}
