import { Outage } from '../../errors/outage.ts';
import { CallerLeft } from '../wire/caller-left.ts';

const UNREACHABLE = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);
const TOO_SLOW = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'ERR_UPSTREAM_UPGRADE_TIMEOUT']);

/** The Outage behind the error of a request to the store. CallerLeft stays as it is. */
export function outageOf(error: Error): Error {
  if (error instanceof CallerLeft || error instanceof Outage) return error;
  const { code = '' } = error as NodeJS.ErrnoException;
  if (UNREACHABLE.has(code)) return new Outage('upstream_unavailable', { cause: error });
  return new Outage(TOO_SLOW.has(code) ? 'upstream_timeout' : 'upstream_error', { cause: error });
}
