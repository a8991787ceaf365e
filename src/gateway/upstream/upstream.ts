import type { Pool } from '../../http1/pool.ts';

/** A set of stores that answer the same, as requests see it. */
export interface Upstream {
  /** The store to be asked. */
  choose(): AskedStore;
}

/** A store as requests see it. */
export interface AskedStore {
  readonly upstream: string;
  /** Its host and port. */
  readonly name: string;
  readonly pool: Pool;
}

/** The target of a mount: the only one of its kind, and nobody judges how it is. */
export function soleTarget(name: string, pool: Pool): Upstream {
  const store = { upstream: 'mount', name, pool };
  return { choose: () => store };
}
