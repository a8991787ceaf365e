import type { Fault } from '@storegate/openapi';
import { maskedFault, maskSecrets } from '../common/secret-mask.ts';

/** Codes are for programs and never change their meaning. */
export const ADMIN_CODES = {
  invalid_request: 400,
  invalid_value: 400,
  invalid_admin_token: 401,
  role_too_low: 403,
  foreign_host: 403,
  foreign_origin: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  gateway_running: 409,
  not_running: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  idempotency_key_reused: 422,
  configuration_unfit: 422,
  too_many_failed_attempts: 429,
  internal_error: 500,
  state_unavailable: 503,
  too_many_listeners: 503,
} as const;

export type AdminCode = keyof typeof ADMIN_CODES;

/** Nothing was changed. The message states the problem and the remedy; text that looks like a key is masked. */
export class AdminError extends Error {
  override name = 'AdminError';
  readonly code: AdminCode;
  readonly status: number;
  readonly details: readonly Fault[] | null;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: AdminCode,
    message: string,
    { details = null, headers = {} }: { details?: readonly Fault[] | null; headers?: Record<string, string> } = {},
  ) {
    super(maskSecrets(message));
    this.code = code;
    this.status = ADMIN_CODES[code];
    this.details = details?.map(maskedFault) ?? null;
    this.headers = headers;
  }
}

export function errorBody({ code, message, status, details }: AdminError) {
  return details ? { code, message, status, details } : { code, message, status };
}
