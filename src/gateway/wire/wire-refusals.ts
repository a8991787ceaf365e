import { WireError } from '@storegate/http1';
import { CATALOGUE } from '../../common/errors/catalogue.ts';
import { Refusal } from '../../common/errors/refusals.ts';
import { CONTRACT_JSON_PATH } from '../../common/reserved-paths.ts';
import { ClientAbort } from './client-abort.ts';

export function refusalOf({ fault, message }: WireError): Refusal {
  switch (fault) {
    case 'malformed':
    case 'cut_off':
      return new Refusal('malformed_request', { message, close: true });
    case 'too_late':
      return new Refusal('request_timeout', { close: true });
    case 'target_too_long':
      return new Refusal('uri_too_long', {
        message: `${message} ${CATALOGUE.uri_too_long.advice}`,
        close: true,
      });
    case 'head_too_large':
      return new Refusal('headers_too_large', {
        message: `${message} ${CATALOGUE.headers_too_large.advice}`,
        close: true,
      });
    case 'extensions_too_large':
      return new Refusal('payload_too_large', { message, close: true });
    case 'version':
      return new Refusal('http_version_not_supported', { close: true });
    case 'method':
      return new Refusal('not_implemented', {
        message: `${message} See ${CONTRACT_JSON_PATH}.`,
        close: true,
      });
    case 'coding':
      return new Refusal('not_implemented', { message, close: true });
  }
}

export function bodyFailure(error: unknown): unknown {
  if (!(error instanceof WireError)) return error;
  return error.fault === 'cut_off'
    ? new ClientAbort('the request body broke off', { cause: error })
    : refusalOf(error);
}

/** In bytes. */
export function tooLarge(most: number): Refusal {
  return new Refusal('payload_too_large', {
    message: `The request body exceeds ${most} bytes. Send a smaller body.`,
    close: true,
  });
}
