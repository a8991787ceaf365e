import { ClientError, PoolBusy } from '@storegate/http1';
import { Outage } from '../../errors/outage.ts';
import { ClientAbort } from '../wire/client-abort.ts';
import { bodyFailure } from '../wire/wire-refusals.ts';

/** Errors that already are an outage stay unchanged. */
export function outageOf(error: unknown): unknown {
  if (error instanceof PoolBusy) return new Outage('upstream_busy', { headers: ['Retry-After', '1'] });
  if (!(error instanceof ClientError)) return error;
  switch (error.failure) {
    case 'unreachable':
      return new Outage('upstream_unavailable', { cause: error });
    case 'too_slow':
      return new Outage('upstream_timeout', { cause: error });
    case 'broken':
      return new Outage('upstream_error', { cause: error });
    case 'body':
      return bodyFailure(error.cause);
    case 'slow_reader':
      return new ClientAbort(error.message, { code: 'slow_reader' });
  }
}
