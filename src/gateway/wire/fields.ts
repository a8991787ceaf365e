/** Headers about one connection only (RFC 9110 section 7.6.1). The gateway forwards them in neither direction. */
const HOP_BY_HOP = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'http2-settings',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

/** Headers a caller may not send to the store: the gateway alone says which key, which caller, and from where. */
const NOT_FORWARDED = new Set([
  ...HOP_BY_HOP,
  'host',
  'expect',
  'content-length',
  'x-api-key',
  'authorization',
  'x-request-id',
  'forwarded',
  'x-real-ip',
  // Other names for a caller, a method or a target. Only the request line counts: the contract has checked it.
  'true-client-ip',
  'x-client-ip',
  'x-cluster-client-ip',
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
  'x-original-host',
  'x-original-method',
  'x-original-uri',
  'x-original-url',
  'x-rewrite-url',
]);

/** Headers the store may not send to a caller: they are the gateway's own. */
const NOT_RETURNED = new Set([...HOP_BY_HOP, 'ratelimit', 'ratelimit-policy', 'x-request-id']);

/**
 * What an answer to a key says where the store says nothing about caches: a shared cache would give one caller's answer to
 * another (RFC 9111 section 3.5 protects only Authorization).
 */
export const NOT_SHARED = { 'cache-control': 'private', vary: 'X-API-Key, Authorization' } as const;

/**
 * Whether a caller's header may reach the store; `name` is in lower case. Many servers read `_` as `-` (RFC 3875 section
 * 4.1.18), so this treats both spellings alike.
 */
export function isForwarded(name: string): boolean {
  const meant = name.includes('_') ? name.replaceAll('_', '-') : name;
  return !NOT_FORWARDED.has(meant) && !meant.startsWith('x-storegate-') && !meant.startsWith('x-forwarded-');
}

/** Whether a store's header may reach the caller; `name` is in lower case. */
export function isReturned(name: string): boolean {
  return !NOT_RETURNED.has(name) && !name.startsWith('x-ratelimit-') && !name.startsWith('access-control-');
}

/** The header names that Connection lists; the gateway does not forward them (RFC 9110 section 7.6.1). */
export function optionsOf(connection: string): string[] {
  return connection
    .toLowerCase()
    .split(',')
    .map((option) => option.trim())
    .filter((option) => option !== '');
}
