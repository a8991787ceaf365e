import type { ClientError, Pool } from '@storegate/http1';
import type { Outage } from '../../errors/outage.ts';
import type { StoreName } from '../../observe/events.ts';

/** Times are those of `performance.now()`. */
export interface Upstream {
  /**
   * `safe`: the request may be cancelled without harm. Returns the outage if no backend takes it; not thrown, because
   * floods get it.
   */
  choose(now: number, safe: boolean, tried: readonly StoreHandle[], operation: string): StoreHandle | Outage;
  /** The request failed before the first byte of a response, after `times` retries. */
  mayRetry(error: ClientError, method: string, times: number): boolean;
  /** `false`: the budget is used up. */
  takeRetry(now: number): boolean;
}

/** Each request that begins ends once: answered, failed or cancelled. */
export interface StoreHandle {
  readonly upstream: string;
  readonly name: string;
  /** For events: it references no connection. */
  readonly identity: StoreName;
  readonly pool: Pool;
  /** The next request decides if the backend responds at all; a client does not wait for that. */
  readonly isTrial: boolean;
  /** Returns the epoch to end the request with. */
  begin(operation: string): number;
  /** The head of a streamed response has arrived: `answered`, `failed` or `cancelled` follows. */
  begun(status: number, epoch: number, now: number): void;
  /** For a whole response. */
  answered(status: number, epoch: number, now: number): void;
  failed(error: ClientError, epoch: number): void;
  /** It says nothing about the backend. */
  cancelled(epoch: number): void;
  retried(): void;
}

export function soleUpstream(name: string, pool: Pool): Upstream {
  const store = soleTarget('mount', name, pool);
  return { choose: () => store, mayRetry: () => false, takeRetry: () => false };
}

export function soleTarget(upstream: string, name: string, pool: Pool): StoreHandle {
  return {
    upstream,
    name,
    identity: { upstream, store: name, isSole: true },
    pool,
    isTrial: false,
    begin: () => 0,
    begun() {},
    answered() {},
    failed() {},
    cancelled() {},
    retried() {},
  };
}

/** A request waited for a connection; nothing was sent. */
export class StoreWentDown extends Error {
  override name = 'StoreWentAway';
}
