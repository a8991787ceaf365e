/** Headers about one connection only (RFC 9110 section 7.6.1); they stop here, both ways. */
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

/** What a caller may not say to the store: its key, who it is, and where it comes from. */
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
  // Other ways to say who asks, for what, and how: the contract has checked the request line, and nothing else counts.
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

/** What the store may not say to a caller: the gateway's own headers. */
const NOT_RETURNED = new Set([...HOP_BY_HOP, 'ratelimit', 'ratelimit-policy', 'x-request-id']);

/**
 * Whether a header of the caller, by its name in small letters, may reach the store. Many servers take `_` for `-`
 * (RFC 3875 section 4.1.18), so a name means here whatever it may mean there.
 */
export function isForwarded(name: string): boolean {
  const meant = name.includes('_') ? name.replaceAll('_', '-') : name;
  return !NOT_FORWARDED.has(meant) && !meant.startsWith('x-storegate-') && !meant.startsWith('x-forwarded-');
}

/** Whether a header of the store, by its name in small letters, may reach the caller. */
export function isReturned(name: string): boolean {
  return !NOT_RETURNED.has(name) && !name.startsWith('x-ratelimit-') && !name.startsWith('access-control-');
}

/** The names that a Connection header lists: they end here (RFC 9110 section 7.6.1). */
export function optionsOf(connection: string): string[] {
  return connection
    .toLowerCase()
    .split(',')
    .map((option) => option.trim())
    .filter((option) => option !== '');
}
