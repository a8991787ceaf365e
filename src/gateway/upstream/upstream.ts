import type { ClientError, Pool } from '@storegate/http1';
import type { Outage } from '../../errors/outage.ts';
import type { StoreName } from '../../observe/events.ts';

/** Equivalent stores, as requests see them. Times are those of `performance.now()`. */
export interface Upstream {
  /**
   * Chooses a store that was not tried. `safe`: the request may be cancelled without harm. Returns the outage if no
   * store takes it; not thrown, because floods get it.
   */
  choose(now: number, safe: boolean, tried: readonly StoreHandle[], operation: string): StoreHandle | Outage;
  /** Whether to retry a request that failed before the first byte of a response, after `times` retries. */
  mayRetry(error: ClientError, method: string, times: number): boolean;
  /** Takes a retry from the budget; `false`: the budget is used up. */
  takeRetry(now: number): boolean;
}

/** A store as requests see it. Each request that begins ends once: answered, failed or cancelled. */
export interface StoreHandle {
  readonly upstream: string;
  readonly name: string;
  /** For events: it references no connection. */
  readonly identity: StoreName;
  readonly pool: Pool;
  /** Whether the next request decides if the store responds at all; a client does not wait for that. */
  readonly isTrial: boolean;
  /** Returns the epoch to end the request with. */
  begin(operation: string): number;
  /** The head of a streamed response has arrived: `answered`, `failed` or `cancelled` follows. */
  begun(status: number, epoch: number, now: number): void;
  /** A whole response has arrived at `now`. */
  answered(status: number, epoch: number, now: number): void;
  failed(error: ClientError, epoch: number): void;
  /** The request was cancelled, which says nothing about the store. */
  cancelled(epoch: number): void;
  retried(): void;
}

/** The only store of a mount's target. */
export function soleUpstream(name: string, pool: Pool): Upstream {
  const store = soleTarget('mount', name, pool);
  return { choose: () => store, mayRetry: () => false, takeRetry: () => false };
}

/** A store without health checks. */
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

/** The store went down while a request waited for a connection; nothing was sent. */
export class StoreWentDown extends Error {
  override name = 'StoreWentAway';
}
