import type { Fault } from '@storegate/openapi';
import { maskedFault, maskSecrets } from '../common/secret-mask.ts';

/**
 * Codes are for programs and never change their meaning. Ordered by status; names and headers are
 * in backticks.
 */
const CODES = {
  invalid_request: [
    400,
    'The call does not fit the contract.',
    'Fix every entry of `details`.',
  ],
  invalid_value: [
    400,
    'A value is of the right form, and cannot be.',
    'See the message.',
  ],
  invalid_admin_token: [
    401,
    'The token is missing or not valid.',
    'Send one as `Authorization: Bearer`, or sign in at the console.',
  ],
  role_too_low: [
    403,
    'The token may not do this.',
    'Use one of the role that the message names.',
  ],
  foreign_host: [
    403,
    'This listener does not have the name in `Host`.',
    'Call it as `localhost` or by its address.',
  ],
  foreign_origin: [
    403,
    'Another web page made the call.',
    'Only programs and the console itself may.',
  ],
  not_found: [404, 'The path or name does not exist.', 'See the message.'],
  method_not_allowed: [
    405,
    'The path does not take this method.',
    '`Allow` names those that it takes.',
  ],
  conflict: [
    409,
    'The call contradicts the current state.',
    'Read the current state, then call again.',
  ],
  gateway_running: [
    409,
    'A running gateway owns the state.',
    'Ask that gateway.',
  ],
  not_running: [
    409,
    'Only a running gateway can do this.',
    'Start it, or ask one that runs.',
  ],
  payload_too_large: [413, 'The body is too large.', 'Send less in each call.'],
  unsupported_media_type: [
    415,
    'The body is of another type than the call takes.',
    'Send `application/json` without a coding.',
  ],
  idempotency_key_reused: [
    422,
    'Another call had this `Idempotency-Key`.',
    'Take a new key for a new call.',
  ],
  configuration_unfit: [
    422,
    'The files, or the plans, cannot be put in force.',
    'Nothing was changed: fix every problem listed.',
  ],
  too_many_failed_attempts: [
    429,
    'Too many calls without a good token came from this address.',
    'Wait for `Retry-After`.',
  ],
  internal_error: [
    500,
    'Something is wrong in the gateway.',
    'Its log has the fault under the `X-Request-Id`: please report it.',
  ],
  state_unavailable: [
    503,
    'The state, such as Redis, does not answer.',
    'Nothing was changed: wait for `Retry-After`, then repeat the call.',
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
