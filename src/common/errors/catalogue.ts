import { CONTRACT_JSON_PATH } from '../reserved-paths.ts';

const entry = (status: number, title: string, advice: string) => ({
  status,
  title,
  advice,
});

/**
 * A code never changes its meaning, and a removed code is never reused. `title` and `advice` are
 * one sentence each: together they are the default message.
 */
export const CATALOGUE = {
  malformed_request: entry(
    400,
    'The request is not valid HTTP.',
    'Correct what the message names; the gateway closes the connection.',
  ),
  invalid_request: entry(
    400,
    'The request does not match the contract.',
    'Fix every entry of `details`: each names the place (`in`, `pointer`), the violated `rule` and its `limit`.',
  ),
  missing_api_key: entry(
    401,
    'The API key is missing.',
    'Send it in the header `X-API-Key`, or as `Authorization: Bearer <key>`.',
  ),
  invalid_api_key: entry(
    401,
    'The API key is not valid.',
    "Check for a typo, or ask the key's issuer if it was replaced.",
  ),
  key_disabled: entry(
    401,
    'This API key is disabled.',
    "Contact the key's issuer.",
  ),
  key_expired: entry(
    401,
    'This API key has expired.',
    'Request a new key from its issuer.',
  ),
  key_retired: entry(
    401,
    'This API key was rotated and its overlap period has ended.',
    'Use the new key.',
  ),
  address_not_allowed: entry(
    403,
    'This API key is restricted to other IP addresses.',
    "Contact the key's issuer to allow this address.",
  ),
  address_denied: entry(
    403,
    'Requests from this IP address are blocked.',
    'Contact the API operator.',
  ),
  limits_not_set: entry(
    403,
    'No limits are configured for this key or its plan.',
    'Contact the API operator.',
  ),
  api_not_allowed: entry(
    403,
    'This API key is restricted to other APIs.',
    "Ask the key's issuer to allow this API, and do not retry: refused requests count against the quota.",
  ),
  scope_missing: entry(
    403,
    'This API key lacks a scope that the operation requires.',
    "Ask the key's issuer for the scope, and do not retry: refused requests count against the quota.",
  ),
  key_banned: entry(
    403,
    'This API key is banned: it kept sending after 429, or an operator banned it.',
    'Wait for `Retry-After`: repeated violations increase the ban duration.',
  ),
  not_found: entry(
    404,
    'No operation matches the method and path.',
    `See \`${CONTRACT_JSON_PATH}\`.`,
  ),
  method_not_allowed: entry(
    405,
    'The method is not allowed for this path.',
    'Use a method from the header `Allow`.',
  ),
  request_timeout: entry(
    408,
    'The request did not arrive in time.',
    'Send the whole request without pauses.',
  ),
  operation_sunset: entry(
    410,
    'This operation has been retired.',
    'Use its successor from the header `Link`.',
  ),
  payload_too_large: entry(
    413,
    'The request body is too large.',
    'Send a smaller body.',
  ),
  uri_too_long: entry(
    414,
    'The request target is too long.',
    'Shorten the path or the query.',
  ),
  unsupported_media_type: entry(
    415,
    'The media type or encoding of the body is not supported.',
    'Send a media type from the header `Accept`, in UTF-8 and without Content-Encoding.',
  ),
  expectation_failed: entry(
    417,
    'The only supported value of Expect is 100-continue.',
    'Correct or remove the header.',
  ),
  rate_limit_exceeded: entry(
    429,
    'The rate limit is exceeded.',
    'Wait for `Retry-After`: many requests sent earlier lead to a ban.',
  ),
  daily_quota_exceeded: entry(
    429,
    'The daily quota is used up.',
    'Wait for `Retry-After`: many requests sent earlier lead to a ban.',
  ),
  too_many_in_flight: entry(
    429,
    'The key has too many open requests.',
    'Wait for a response and for `Retry-After`: many requests sent earlier lead to a ban.',
  ),
  too_many_failed_attempts: entry(
    429,
    'Too many requests without a valid API key came from this IP address.',
    'Wait for `Retry-After`; requests with a valid key are not affected.',
  ),
  headers_too_large: entry(
    431,
    'The request headers are too large.',
    'Send fewer or shorter headers.',
  ),
  internal_error: entry(
    500,
    'The gateway failed with an internal error.',
    'Retry later, and report the value of `X-Request-Id` if it happens again.',
  ),
  not_implemented: entry(
    501,
    'The method or the transfer coding is not supported.',
    'Use a method of the contract, and no transfer coding except `chunked`.',
  ),
  upstream_unavailable: entry(
    502,
    'The backend cannot be reached.',
    'Retry with exponential backoff: the request did not reach the backend.',
  ),
  upstream_error: entry(
    502,
    'The backend sent an invalid response.',
    'Retry only if the request can be repeated safely: the backend may have processed it.',
  ),
  upstream_busy: entry(
    503,
    'The backend is overloaded.',
    'Wait for `Retry-After`, then retry with exponential backoff: the request did not reach the backend.',
  ),
  upstream_down: entry(
    503,
    'The backend is down.',
    'Wait for `Retry-After`, then retry with exponential backoff: no write reached the backend.',
  ),
  state_unavailable: entry(
    503,
    'The gateway cannot check keys or limits at the moment.',
    'Wait for `Retry-After`, then retry with exponential backoff: the request did not reach the backend.',
  ),
  gateway_busy: entry(
    503,
    'The gateway is out of memory for request bodies.',
    'Wait for `Retry-After`, then retry with exponential backoff: the request did not reach the backend.',
  ),
  upstream_timeout: entry(
    504,
    'The backend did not respond in time.',
    'Retry only if the request can be repeated safely: the backend may have processed it.',
  ),
  http_version_not_supported: entry(
    505,
    'The HTTP version is not supported.',
    'Use HTTP/1.1 or HTTP/1.0.',
  ),
  loop_detected: entry(
    508,
    'The request has already passed this gateway.',
    'Contact the API operator: a backend leads back to the gateway.',
  ),
};

export type Code = keyof typeof CATALOGUE;

export const ERROR_CODES = Object.entries(CATALOGUE)
  .map(([code, entry]) => ({ code: code as Code, ...entry }))
  .sort((a, b) => a.status - b.status);

/** Of one API: no key is for another one if it is alone. */
export const errorCodesOf = ({ isAlone }: { readonly isAlone: boolean }) =>
  ERROR_CODES.filter(({ code }) => !isAlone || code !== 'api_not_allowed');
