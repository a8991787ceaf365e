/** RFC 9110 section 7.6.1, forwarded in neither direction. */
export const HOP_BY_HOP = [
  'connection',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

/** Only the gateway states the key, the client and its address. */
export const NOT_FORWARDED: ReadonlySet<string> = new Set([
  ...HOP_BY_HOP,
  'content-length',
  'expect',
  'forwarded',
  'host',
  'x-real-ip',
  'x-request-id',
  // Other spellings of a client, a method or a target. Only the validated request line counts.
  ...[
    'forwarded-for',
    'front-end-https',
    'true-client-ip',
    'x-client-ip',
    'x-cluster-client-ip',
    'x-forwarded',
  ],
  'x-custom-ip-authorization',
  'x-original-forwarded-for',
  'x-proxyuser-ip',
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
  'x-original-method',
  'x-accel-redirect',
  'x-forwarded-url',
  'x-host',
  'x-original-host',
  'x-original-uri',
  'x-original-url',
  'x-proxy-url',
  'x-rewrite-uri',
  'x-rewrite-url',
]);
