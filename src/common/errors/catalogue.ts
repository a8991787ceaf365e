import { CONTRACT_JSON_PATH } from '../reserved-paths.ts';

/**
 * A code never changes its meaning, and a removed code is never reused. `title` and `advice` are
 * one sentence each: together they are the default message. Every 503 has `retryAfter`, in seconds;
 * the stages that refuse a client with 429 or a ban know how long it waits. A 502 or 504 has none,
 * because the gateway cannot know when that backend responds again.
 */
export const CATALOGUE = {
  malformed_request: {
    status: 400,
    title: 'The request is not valid HTTP.',
    advice:
      'Correct what the message names; the gateway closes the connection.',
  },
  invalid_request: {
    status: 400,
    title: 'The request does not match the contract.',
    advice:
      'Fix every entry of `details`: each names the place (`in`, `pointer`), the violated `rule` and its `limit`.',
  },
  missing_api_key: {
    status: 401,
    title: 'The API key is missing.',
    advice:
      'Send it in the header `X-API-Key`, or as `Authorization: Bearer <key>`.',
  },
  invalid_api_key: {
    status: 401,
    title: 'The API key is not valid.',
    advice: "Check for a typo, or ask the key's issuer if it was replaced.",
  },
  key_disabled: {
    status: 401,
    title: 'This API key is disabled.',
    advice: "Contact the key's issuer.",
  },
  key_expired: {
    status: 401,
    title: 'This API key has expired.',
    advice: 'Request a new key from its issuer.',
  },
  key_retired: {
    status: 401,
    title: 'This API key was rotated and its overlap period has ended.',
    advice: 'Use the new key.',
  },
  address_not_allowed: {
    status: 403,
    title: 'This API key is restricted to other IP addresses.',
    advice: "Contact the key's issuer to allow this address.",
  },
  address_denied: {
    status: 403,
    title: 'Requests from this IP address are blocked.',
    advice: 'Contact the API operator.',
  },
  limits_not_set: {
    status: 403,
    title: 'No limits are configured for this key or its plan.',
    advice: 'Contact the API operator.',
  },
  api_not_allowed: {
    status: 403,
    title: 'This API key is restricted to other APIs.',
    advice:
      "Ask the key's issuer to allow this API, and do not retry: refused requests count against the quota.",
  },
  scope_missing: {
    status: 403,
    title: 'This API key lacks a scope that the operation requires.',
    advice:
      "Ask the key's issuer for the scope, and do not retry: refused requests count against the quota.",
  },
  key_banned: {
    status: 403,
    title:
      'This API key is banned: it kept sending after 429, or an operator banned it.',
    advice:
      'Wait for `Retry-After`: repeated violations increase the ban duration.',
  },
  not_found: {
    status: 404,
    title: 'No operation matches the method and path.',
    advice: `See \`${CONTRACT_JSON_PATH}\`.`,
  },
  method_not_allowed: {
    status: 405,
    title: 'The method is not allowed for this path.',
    advice: 'Use a method from the header `Allow`.',
  },
  request_timeout: {
    status: 408,
    title: 'The request did not arrive in time.',
    advice: 'Send the whole request without pauses.',
  },
  operation_sunset: {
    status: 410,
    title: 'This operation has been retired.',
    advice: 'Use its successor from the header `Link`.',
  },
  payload_too_large: {
    status: 413,
    title: 'The request body is too large.',
    advice: 'Send a smaller body.',
  },
  uri_too_long: {
    status: 414,
    title: 'The request target is too long.',
    advice: 'Shorten the path or the query.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'The media type or encoding of the body is not supported.',
    advice:
      'Send a media type from the header `Accept`, in UTF-8 and without Content-Encoding.',
  },
  expectation_failed: {
    status: 417,
    title: 'The only supported value of Expect is 100-continue.',
    advice: 'Correct or remove the header.',
  },
  rate_limit_exceeded: {
    status: 429,
    title: 'The rate limit is exceeded.',
    advice: 'Wait for `Retry-After`: many requests sent earlier lead to a ban.',
  },
  daily_quota_exceeded: {
    status: 429,
    title: 'The daily quota is used up.',
    advice: 'Wait for `Retry-After`: many requests sent earlier lead to a ban.',
  },
  too_many_in_flight: {
    status: 429,
    title: 'The key has too many open requests.',
    advice:
      'Wait for a response and for `Retry-After`: many requests sent earlier lead to a ban.',
  },
  too_many_failed_attempts: {
    status: 429,
    title:
      'Too many requests without a valid API key came from this IP address.',
    advice:
      'Wait for `Retry-After`; requests with a valid key are not affected.',
  },
  headers_too_large: {
    status: 431,
    title: 'The request headers are too large.',
    advice: 'Send fewer or shorter headers.',
  },
  internal_error: {
    status: 500,
    title: 'The gateway failed with an internal error.',
    advice:
      'Retry later, and report the value of `X-Request-Id` if it happens again.',
  },
  not_implemented: {
    status: 501,
    title: 'The method or the transfer coding is not supported.',
    advice:
      'Use a method of the contract, and no transfer coding except `chunked`.',
  },
  upstream_unavailable: {
    status: 502,
    title: 'The backend cannot be reached.',
    advice:
      'Retry with exponential backoff: the request did not reach the backend.',
  },
  upstream_error: {
    status: 502,
    title: 'The backend sent an invalid response.',
    advice:
      'Retry only if the request can be repeated safely: the backend may have processed it.',
  },
  upstream_busy: {
    status: 503,
    retryAfter: 1,
    title: 'The backend is overloaded.',
    advice:
      'Wait for `Retry-After`, then retry with exponential backoff: the request did not reach the backend.',
  },
  upstream_down: {
    status: 503,
    retryAfter: 1,
    title: 'The backend is down.',
    advice:
      'Wait for `Retry-After`, then retry with exponential backoff: no write reached the backend.',
  },
  state_unavailable: {
    status: 503,
    retryAfter: 1,
    title: 'The gateway cannot check keys or limits at the moment.',
    advice:
      'Wait for `Retry-After`, then retry with exponential backoff: the request did not reach the backend.',
  },
  gateway_busy: {
    status: 503,
    retryAfter: 1,
    title: 'The gateway is out of memory for request bodies.',
    advice:
      'Wait for `Retry-After`, then retry with exponential backoff: the request did not reach the backend.',
  },
  upstream_timeout: {
    status: 504,
    title: 'The backend did not respond in time.',
    advice:
      'Retry only if the request can be repeated safely: the backend may have processed it.',
  },
  http_version_not_supported: {
    status: 505,
    title: 'The HTTP version is not supported.',
    advice: 'Use HTTP/1.1 or HTTP/1.0.',
  },
  loop_detected: {
    status: 508,
    title: 'The request has already passed this gateway.',
    advice: 'Contact the API operator: a backend leads back to the gateway.',
  },
} as const satisfies Record<string, Entry>;

interface Entry {
  readonly status: number;
  /** Seconds. */
  readonly retryAfter?: number;
  readonly title: string;
  readonly advice: string;
}

export type Code = keyof typeof CATALOGUE;

export const ERROR_CODES = Object.entries<Entry>(CATALOGUE)
  .map(([code, entry]) => ({ code: code as Code, ...entry }))
  .sort((a, b) => a.status - b.status);

/** Of one API: no key is for another one if it is alone. */
export const errorCodesOf = ({ isAlone }: { readonly isAlone: boolean }) =>
  ERROR_CODES.filter(({ code }) => !isAlone || code !== 'api_not_allowed');
