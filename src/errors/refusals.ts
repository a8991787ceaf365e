import type { Fault } from '@storegate/openapi';
import { CONTRACT_JSON_PATH, REFERENCE_PATH, USAGE_PATH } from '../common/own-paths.ts';
import { maskedFault, maskSecrets } from '../common/secret-mask.ts';

/**
 * Every code an answer of the gateway can carry. Codes are for programs: a code never changes its meaning, and a retired one
 * is never reused. `title` is the message of a refusal that has none of its own; `advice` says what the caller can do, and
 * goes into the documentation.
 */
export const CATALOGUE = {
  malformed_request: {
    status: 400,
    title: 'The request is not well-formed HTTP.',
    advice: 'Send one unambiguous HTTP/1.1 request; the message names what was wrong. The connection is closed.',
  },
  invalid_request: {
    status: 400,
    title: 'The request does not fit the contract.',
    advice:
      'Correct every entry of `details`: each has the place (`in`, `pointer`), the `rule` that it breaks and its `limit`.',
  },
  missing_api_key: {
    status: 401,
    title: 'This request needs an API key.',
    advice: 'Send the key in the header `X-API-Key`, or as `Authorization: Bearer <key>`.',
  },
  invalid_api_key: {
    status: 401,
    title: 'The API key is not valid.',
    advice: 'Check for a typo or a cut-off copy. Send exactly one key, once. Repeated guesses are answered with 429.',
  },
  key_disabled: {
    status: 401,
    title: 'This API key is disabled.',
    advice: 'Ask whoever issued the key; it was disabled or revoked on purpose.',
  },
  key_expired: {
    status: 401,
    title: 'This API key has expired.',
    advice: 'Ask for a new key.',
  },
  key_retired: {
    status: 401,
    title: 'This API key has been replaced, and the time to change over has ended.',
    advice: 'Use the new key. Answers to the old one said so before, in `X-Key-Retires`.',
  },
  address_not_allowed: {
    status: 403,
    title: 'This API key may not be used from this address.',
    advice: 'Use it from where it belongs, or ask whoever issued it to allow the address.',
  },
  address_denied: {
    status: 403,
    title: 'Requests from this address are not taken.',
    advice: 'Send from an address that may, or ask whoever runs the gateway. No key changes this.',
  },
  scope_missing: {
    status: 403,
    title: 'This API key lacks a scope that the operation needs.',
    advice: `Ask whoever issued the key for the scopes that the message names; \`${USAGE_PATH}\` tells those that it has. Sending the request again changes nothing, and counts as any other.`,
  },
  key_banned: {
    status: 403,
    title: 'This API key is banned for a while.',
    advice:
      'Wait for `Retry-After`. Bans follow from sending on after 429, and the next one is longer: always wait as told.',
  },
  not_found: {
    status: 404,
    title: 'There is no such path.',
    advice: `Compare the path with the contract at \`${CONTRACT_JSON_PATH}\`; case and trailing slashes matter.`,
  },
  method_not_allowed: {
    status: 405,
    title: 'This path does not take this method.',
    advice: 'Use one of the methods in the header `Allow`.',
  },
  request_timeout: {
    status: 408,
    title: 'The request did not arrive in time.',
    advice: 'Send the whole request without pauses.',
  },
  operation_sunset: {
    status: 410,
    title: 'This operation has been retired.',
    advice: 'Use its successor, which the header `Link` names.',
  },
  payload_too_large: {
    status: 413,
    title: 'The request body is too large.',
    advice: 'Send less; the message tells the limit.',
  },
  uri_too_long: {
    status: 414,
    title: 'The request target is too long.',
    advice: 'Send a shorter path or query; the message tells the limit.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'The body has a media type that this operation does not take.',
    advice: 'Send one of the types that the message names, in UTF-8, without a Content-Encoding.',
  },
  expectation_failed: {
    status: 417,
    title: 'The gateway meets no expectation but 100-continue.',
    advice: 'Leave the header `Expect` out.',
  },
  rate_limit_exceeded: {
    status: 429,
    title: 'The rate limit is reached.',
    advice: 'Wait for `Retry-After`, then go on; back off exponentially if it happens again.',
  },
  daily_quota_exceeded: {
    status: 429,
    title: 'The daily quota is used up.',
    advice: 'Wait for `Retry-After`, or move to a larger plan.',
  },
  too_many_in_flight: {
    status: 429,
    title: 'Too many requests are in flight.',
    advice:
      'Wait for an answer before you send the next request, or for `Retry-After`: keep fewer at once than the message says. It costs nothing, and is no strike.',
  },
  too_many_failed_attempts: {
    status: 429,
    title: 'Too many requests without a valid API key came from this address.',
    advice: 'Wait for `Retry-After`, and send a valid key. Requests with a valid key are not affected.',
  },
  headers_too_large: {
    status: 431,
    title: 'The request has too many or too large headers.',
    advice: 'Send fewer or shorter headers.',
  },
  internal_error: {
    status: 500,
    title: 'Something went wrong inside the gateway.',
    advice: 'Try again later; when you report it, give the value of `X-Request-Id`.',
  },
  not_implemented: {
    status: 501,
    title: 'The gateway does not know this method or transfer coding.',
    advice: 'Use a method of the contract and no transfer coding but `chunked`.',
  },
  upstream_unavailable: {
    status: 502,
    title: 'The store cannot be reached.',
    advice: 'Try again with exponential backoff. The request did not reach the store.',
  },
  upstream_error: {
    status: 502,
    title: 'The store gave no usable answer.',
    advice: 'Try again with exponential backoff. Whether the store acted on the request is not known.',
  },
  upstream_busy: {
    status: 503,
    title: 'The store has more requests than it can answer.',
    advice: 'Wait for `Retry-After` and try again with exponential backoff. The request did not reach the store.',
  },
  upstream_down: {
    status: 503,
    title: 'The store is away.',
    advice:
      'Wait for `Retry-After` and try again with exponential backoff. It failed for others, so nobody waits for it until it is back; nothing that changes anything was sent to it.',
  },
  state_unavailable: {
    status: 503,
    title: 'The gateway cannot check limits at the moment.',
    advice: 'Wait for `Retry-After` and try again.',
  },
  limits_not_set: {
    status: 503,
    title: 'No limits are set for this key.',
    advice: 'Ask whoever runs the gateway: keys of a custom plan need limits of their own or of their account.',
  },
  gateway_busy: {
    status: 503,
    title: 'The gateway holds as many request bodies as it has room for.',
    advice: 'Wait for `Retry-After` and try again with exponential backoff. Send fewer bodies at a time.',
  },
  upstream_timeout: {
    status: 504,
    title: 'The store took too long to answer.',
    advice: 'Try again with exponential backoff. Whether the store acted on the request is not known.',
  },
  http_version_not_supported: {
    status: 505,
    title: 'The gateway speaks HTTP/1.1.',
    advice: 'Use HTTP/1.1 or HTTP/1.0.',
  },
} as const satisfies Record<string, { status: number; title: string; advice: string }>;

export type Code = keyof typeof CATALOGUE;

/** The catalogue in the order of its status codes. */
export const ERROR_CODES = Object.entries(CATALOGUE)
  .map(([code, entry]) => ({ code: code as Code, ...entry }))
  .sort((a, b) => a.status - b.status);

interface Particulars {
  /** Replaces the code's title. Never holds a submitted value or a secret. */
  readonly message?: string;
  readonly details?: readonly Fault[];
  /** More headers of the answer, flat: name, value, … */
  readonly headers?: readonly string[];
  /** Ends the connection with the answer, because the rest of the request is useless or cannot be trusted. */
  readonly close?: boolean;
  /** What decided, for operators alone. Never holds a submitted value or a secret. */
  readonly reason?: string;
}

/**
 * Refuses a request; the caller must act. Stages throw or return it, and one place answers it. Not an Error: a refusal is a
 * normal outcome, and a stack trace for each would cost more than the rest of the refusal. It masks what looks like a key.
 */
export class Refusal {
  readonly code: Code;
  readonly status: number;
  readonly message: string;
  readonly details: readonly Fault[] | null;
  readonly headers: readonly string[];
  readonly close: boolean;
  readonly reason: string | null;
  #body: string | null = null;

  constructor(code: Code, { message, details, headers = [], close = false, reason }: Particulars = {}) {
    this.code = code;
    this.status = CATALOGUE[code].status;
    this.message = message === undefined ? CATALOGUE[code].title : maskSecrets(message);
    this.details = details?.map(maskedFault) ?? null;
    this.headers = headers;
    this.close = close;
    this.reason = reason === undefined ? null : maskSecrets(reason);
  }

  /** The contract's Error object as JSON; `details` only if there are some. */
  get body(): string {
    this.#body ??= JSON.stringify(this.#members());
    return this.#body;
  }

  /** The same as an object of RFC 9457, with the members of both. */
  get problem(): string {
    const { code, message } = this;
    const type = `${REFERENCE_PATH}/#error-${code}`;
    return JSON.stringify({ type, title: CATALOGUE[code].title, detail: message, ...this.#members() });
  }

  #members(): object {
    const { code, message, status, details } = this;
    return details ? { code, message, status, details } : { code, message, status };
  }
}
