import { Refusal } from '../common/errors/refusals.ts';
import { retryAfter } from '../common/errors/retry-after.ts';
import { maskSecrets } from '../common/secret-mask.ts';
import type { Readings } from '../limits/admission.ts';
import type { Exchange } from './exchange.ts';

const LONGEST = 200;

export function notFound(
  { call, api }: Exchange,
  path: string,
  similar: string | null,
): Refusal {
  const hint =
    similar === null
      ? seeDocument(api)
      : ` Did you mean ${api.stripped}${similar}?`;
  return new Refusal('not_found', {
    message: `No operation matches ${call.method} ${shown(api.stripped + path)}.${hint}`,
    echoes: true,
  });
}

export function methodNotAllowed(
  { call, api }: Exchange,
  path: string,
  allow: readonly string[],
): Refusal {
  const allowed = allow.join(', ');
  return new Refusal('method_not_allowed', {
    message: `${call.method} is not allowed for ${shown(api.stripped + path)}. Allowed: ${allowed}.`,
    echoes: true,
    headers: ['Allow', allowed],
  });
}

/** `since`: Unix seconds. */
export function sunset(
  { call, api }: Exchange,
  path: string,
  since: number,
): Refusal {
  const day = new Date(since * 1000).toISOString().slice(0, 10);
  return new Refusal('operation_sunset', {
    message: `${call.method} ${shown(api.stripped + path)} was retired on ${day}. Use its successor if the Link header names one.`,
    echoes: true,
  });
}

/** A sentence to append. */
export const seeDocument = ({ document }: Exchange['api']): string =>
  document === null ? '' : ` See ${document}.`;

export function noWebSocket({ api }: Exchange): Refusal {
  return new Refusal('not_found', {
    message: `This path does not accept WebSockets.${seeDocument(api)}`,
    close: true,
  });
}

/** For a window that is of no plan: it causes no strike. The response shows it. */
export function windowUsedUp(
  exchange: Exchange,
  usage: Readings,
  message: string,
): Refusal {
  exchange.usage = usage;
  const { readings, now } = usage;
  return new Refusal('rate_limit_exceeded', {
    message,
    headers: retryAfter(readings[0]!.resetAt, now),
  });
}

/** Masked before it is cut, so that no part of a key remains. */
function shown(path: string): string {
  const masked = maskSecrets(path);
  return masked.length > LONGEST ? `${masked.slice(0, LONGEST)}…` : masked;
}
