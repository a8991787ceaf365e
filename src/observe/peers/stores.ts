import type { ProcessStatus, StoreConnections, StoreState, StoreStatus } from './status.ts';

export interface StoreOfAll extends Omit<StoreStatus, 'state' | keyof StoreConnections> {
  /** `partly`: up for some processes only. */
  readonly state: StoreState | 'partly';
  readonly of: number;
  readonly down: number;
  readonly connections: StoreConnections;
  readonly seen: readonly SeenStore[];
}

export interface SeenStore extends StoreStatus {
  readonly gateway: string;
  readonly worker: number | null;
}

interface ProcessesOf {
  readonly gateway: string;
  readonly processes: readonly Pick<ProcessStatus, 'worker' | 'stores'>[];
}

export function storesOfAll(gateways: readonly ProcessesOf[]): StoreOfAll[] {
  const seen = gateways.flatMap(({ gateway, processes }) =>
    // Gateways of older versions omit `stores`.
    processes.flatMap(({ worker, stores = [] }) =>
      stores.map((store) => ({ ...store, gateway, worker })),
    ),
  );
  const byUpstream = Map.groupBy(seen, ({ upstream }) => upstream);
  return [...byUpstream.values()].flatMap((ofOne) =>
    [...Map.groupBy(ofOne, ({ store }) => store).values()].map(together),
  );
}

function together(seen: readonly SeenStore[]): StoreOfAll {
  const { upstream, store, weight } = seen[0]!;
  const down = seen.filter(({ state }) => state === 'away');
  const returning = seen.filter(({ state }) => state === 'returning');
  const worst = [down, returning, seen].find((some) => some.length > 0)!;
  const [first] = worst.toSorted((one, other) => one.since - other.since);
  return {
    upstream,
    store,
    weight,
    of: seen.length,
    down: down.length,
    seen,
    state: down.length > 0 && down.length < seen.length ? 'partly' : first!.state,
    // Up since the last process saw it up; otherwise since the first saw the failure.
    since: worst === seen ? Math.max(...seen.map(({ since }) => since)) : first!.since,
    reason: first!.reason,
    inFlight: sum(seen, 'inFlight'),
    requests: sum(seen, 'requests'),
    failures: sum(seen, 'failures'),
    retries: sum(seen, 'retries'),
    connections: sumOfConnections(seen),
  };
}

export function sumOfConnections(all: readonly StoreConnections[]): StoreConnections {
  return {
    open: sum(all, 'open'),
    idle: sum(all, 'idle'),
    waiting: sum(all, 'waiting'),
    most: sum(all, 'most'),
  };
}

function sum<N extends string>(all: readonly Readonly<Record<N, number>>[], name: N): number {
  return all.reduce((total, one) => total + one[name], 0);
}
