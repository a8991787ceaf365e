import type { Fault } from '@storegate/openapi';
import { maskedFault, maskSecrets } from '../common/secret-mask.ts';

/**
 * Codes are for programs and never change their meaning. Ordered by status; names and headers are
 * in backticks.
 */
const CODES = {
  invalid_request: [
    400,
    'The request does not match the contract.',
    'Fix every entry of `details`.',
  ],
  invalid_value: [400, 'A value cannot be used.', 'See the message.'],
  invalid_admin_token: [
    401,
    'The token is missing or not valid.',
    'Send one as `Authorization: Bearer`, or sign in at the console.',
  ],
  role_too_low: [
    403,
    'The role of the token is too low.',
    'Use a token of the role in the message.',
  ],
  foreign_host: [
    403,
    '`Host` is not a name of this listener.',
    'Use `localhost` or its address.',
  ],
  foreign_origin: [
    403,
    'Another web page sent the request.',
    'Only programs and the console may.',
  ],
  not_found: [404, 'The path or name does not exist.', 'See the message.'],
  method_not_allowed: [
    405,
    'The method is not allowed for this path.',
    'Use a method from the header `Allow`.',
  ],
  conflict: [
    409,
    'The request contradicts the current state.',
    'Read the current state, then repeat it.',
  ],
  gateway_running: [
    409,
    'A running gateway uses the state.',
    'Send the request to that gateway.',
  ],
  not_running: [409, 'Only a running gateway can do this.', 'Start a gateway.'],
  payload_too_large: [413, 'The body is too large.', 'Send less in each call.'],
  unsupported_media_type: [
    415,
    'The media type of the body is not supported.',
    'Send `application/json` without Content-Encoding.',
  ],
  idempotency_key_reused: [
    422,
    'Another request had this `Idempotency-Key`.',
    'Use a new key for a new request.',
  ],
  configuration_unfit: [
    422,
    'The files, or the plans, cannot be put in force.',
    'Nothing was changed: fix every problem listed.',
  ],
  too_many_failed_attempts: [
    429,
    'Too many requests without a valid token came from this address.',
    'Wait for `Retry-After`.',
  ],
  internal_error: [
    500,
    'The gateway failed with an internal error.',
    'Report the line of its log with the `X-Request-Id`.',
  ],
  state_unavailable: [
    503,
    'The state, such as Redis, is unavailable.',
    'Nothing was changed: wait for `Retry-After`, then retry.',
  ],
} as const satisfies Record<
  string,
  readonly [status: number, title: string, advice: string]
>;

export type AdminCode = keyof typeof CODES;

const WAITS: Partial<Record<AdminCode, Record<string, string>>> = {
  state_unavailable: { 'Retry-After': '1' },
};

/** For the reference. */
export const ADMIN_ERRORS = Object.entries(CODES).map(
  ([code, [status, title, advice]]) => {
    return { code, status, title, advice };
  },
);

/**
 * Nothing was changed. The message states the problem and the remedy; text that looks like a key is
 * masked.
 */
export class AdminError extends Error {
  override name = 'AdminError';
  readonly code: AdminCode;
  readonly status: number;
  readonly details: readonly Fault[] | null;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: AdminCode,
    message: string,
    {
      details = null,
      headers = WAITS[code] ?? {},
    }: {
      details?: readonly Fault[] | null;
      headers?: Record<string, string>;
    } = {},
  ) {
    super(maskSecrets(message));
    this.code = code;
    this.status = CODES[code][0];
    this.details = details?.map(maskedFault) ?? null;
    this.headers = headers;
  }
}

export function errorBody({ code, message, status, details }: AdminError) {
  return details
    ? { code, message, status, details }
    : { code, message, status };
}

/** The details of an error that has one unfit field, of a body by default. */
export const faultOf = (
  field: string,
  message: string,
  place: Fault['in'] = 'body',
): Fault[] => [
  { in: place, pointer: `/${field}`, message, rule: 'unfit' as const },
];
