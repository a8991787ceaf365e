import { ClientError, type Pool, PoolBusy } from '@storegate/http1';
import { Outage } from '../../common/errors/outage.ts';
import type { BackendName } from '../../observe/events.ts';
import { ClientAbort } from '../wire/client-abort.ts';
import { bodyFailure } from '../wire/wire-refusals.ts';

/** Times are those of `performance.now()`. */
export interface Upstream {
  /** `safe`: may be cancelled without harm. Returns the outage, because floods get it. */
  choose(
    now: number,
    safe: boolean,
    tried: readonly BackendHandle[],
    operation: string,
  ): BackendHandle | Outage;
  /** It failed before the first byte of a response. */
  mayRetry(error: ClientError, method: string, times: number): boolean;
  takeRetry(now: number): boolean;
}

/** Each request that begins ends once: with a response, failed or cancelled. */
export interface BackendHandle {
  /** For events: it references no connection. */
  readonly identity: BackendName;
  readonly pool: Pool;
  /** WebSocket connections last for hours, so they are not pooled with the others. */
  readonly tunnels: Pool;
  /** A client does not wait for that. */
  readonly isTrial: boolean;
  /** Returns the epoch to end the request with. */
  begin(operation: string): number;
  /** `answered`, `failed` or `cancelled` follows. */
  begun(status: number, epoch: number, now: number): void;
  responded(status: number, epoch: number, now: number): void;
  failed(error: ClientError, epoch: number): void;
  cancelled(epoch: number): void;
  retried(): void;
}

export function soleUpstream(
  name: string,
  pool: Pool,
  tunnels = pool,
): Upstream {
  const backend: BackendHandle = {
    identity: { upstream: 'target', backend: name, isSole: true },
    pool,
    tunnels,
    isTrial: false,
    begin: () => 0,
    begun() {},
    responded() {},
    failed() {},
    cancelled() {},
    retried() {},
  };
  return {
    choose: () => backend,
    mayRetry: () => false,
    takeRetry: () => false,
  };
}

/** Nothing was sent. */
export class BackendWentDown extends Error {
  override name = 'BackendWentDown';
}

const OUTAGES = {
  unreachable: 'upstream_unavailable',
  too_slow: 'upstream_timeout',
  broken: 'upstream_error',
} as const;

/** Errors that already are an outage stay unchanged. */
export function outageOf(error: unknown): unknown {
  if (error instanceof PoolBusy) return new Outage('upstream_busy');
  if (!(error instanceof ClientError)) return error;
  const { failure, cause, message } = error;
  // What forwards to a target knows more of the failure than the connection to it.
  if (cause instanceof Outage) return cause;
  if (failure === 'body') return bodyFailure(cause);
  if (failure === 'slow_reader')
    return new ClientAbort(message, { code: failure });
  return new Outage(OUTAGES[failure], { cause: error });
}
