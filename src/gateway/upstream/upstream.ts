import type { ClientError, Pool } from '@storegate/http1';
import type { Outage } from '../../errors/outage.ts';
import type { StoreName } from '../../observe/events.ts';

/** A set of stores that answer the same, as requests see it. Times are those of `performance.now()`. */
export interface Upstream {
  /**
   * The store to be asked, none of those that were tried. `safe`: the request may be given up without harm. The outage if no store takes
   * it; not thrown, because floods get it.
   */
  choose(now: number, safe: boolean, tried: readonly StoreHandle[], operation: string): StoreHandle | Outage;
  /** Whether a request may be sent again that failed before a byte of an answer, and was sent again `times` times. */
  mayRetry(error: ClientError, method: string, times: number): boolean;
  /** Takes a retry out of the budget; `false`: it is spent. */
  takeRetry(now: number): boolean;
}

/** A store as requests see it. Each request that begins ends once: good, failed or forgone. */
export interface StoreHandle {
  readonly upstream: string;
  /** Its host and port. */
  readonly name: string;
  /** The same, as listeners of events keep it: it leads to no connection. */
  readonly identity: StoreName;
  readonly pool: Pool;
  /** Whether the next request that begins shows if it answers at all; a caller does not wait for that. */
  readonly isTrial: boolean;
  /** Returns what the end of the request is told with. */
  begin(operation: string): number;
  /** The head of a response has come whose body is streamed: `answered`, `failed` or `forgone` follows. */
  begun(status: number, epoch: number, now: number): void;
  /** A response has come as a whole, at `now`. */
  answered(status: number, epoch: number, now: number): void;
  failed(error: ClientError, epoch: number): void;
  /** The request was given up, which says nothing of the store. */
  cancelled(epoch: number): void;
  retried(): void;
}

/** The target of a mount: the only one of its kind. */
export function soleUpstream(name: string, pool: Pool): Upstream {
  const store = soleTarget('mount', name, pool);
  return { choose: () => store, mayRetry: () => false, takeRetry: () => false };
}

/** Connections to a store of which nobody judges how it is. */
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

/** The store went away while a request waited for a connection to it; nothing was sent. */
export class StoreWentDown extends Error {
  override name = 'StoreWentAway';
}
