import { ADMIN_CODES, type AdminCode } from './admin-error.ts';

/** Names and headers are in backticks. */
const WORDS: Readonly<Record<AdminCode, readonly [title: string, advice: string]>> = {
  invalid_request: ['The call does not fit the contract.', 'Fix every entry of `details`.'],
  invalid_value: ['A value is of the right form, and cannot be.', 'See the message.'],
  invalid_admin_token: [
    'The token is missing or not valid.',
    'Send one as `Authorization: Bearer`, or sign in at the console.',
  ],
  role_too_low: ['The token may not do this.', 'Use one of the role that the message names.'],
  foreign_host: ['This listener does not have the name in `Host`.', 'Call it as `localhost` or by its address.'],
  foreign_origin: ['Another web page made the call.', 'Only programs and the console itself may.'],
  not_found: ['The path or name does not exist.', 'See the message.'],
  method_not_allowed: ['The path does not take this method.', '`Allow` names those that it takes.'],
  conflict: ['The call contradicts the current state.', 'Read the current state, then call again.'],
  gateway_running: ['A running gateway owns the state.', 'Ask that gateway.'],
  not_running: ['Only a running gateway can do this.', 'Start it, or ask one that runs.'],
  payload_too_large: ['The body is too large.', 'Send less in each call.'],
  unsupported_media_type: [
    'The body is of another type than the call takes.',
    'Send `application/json` without a coding.',
  ],
  idempotency_key_reused: ['Another call had this `Idempotency-Key`.', 'Take a new key for a new call.'],
  configuration_unfit: [
    'The files, or the plans, cannot be put in force.',
    'Nothing was changed: fix every problem listed.',
  ],
  too_many_failed_attempts: ['Too many calls without a good token came from this address.', 'Wait for `Retry-After`.'],
  too_many_listeners: [
    'Too many follow what happens at this gateway.',
    'Close unread streams, or use another gateway.',
  ],
  internal_error: [
    'Something is wrong in the gateway.',
    'Its log has the fault under the `X-Request-Id`: please report it.',
  ],
  state_unavailable: ['The state, such as Redis, does not answer.', 'Nothing was changed: try again later.'],
};

/** Ordered by status. */
export const ADMIN_ERRORS = Object.entries(WORDS)
  .map(([code, [title, advice]]) => ({ code, status: ADMIN_CODES[code as AdminCode], title, advice }))
  .sort((a, b) => a.status - b.status);
