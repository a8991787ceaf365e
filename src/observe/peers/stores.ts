import type { ProcessStatus, StoreConnections, StoreState, StoreStatus } from './status.ts';

export interface StoreOfAll
  extends Pick<
    StoreStatus,
    'upstream' | 'store' | 'weight' | 'since' | 'reason' | 'inFlight' | 'requests' | 'failures' | 'retries'
  > {
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
    processes.flatMap(({ worker, stores = [] }) => stores.map((store) => ({ ...store, gateway, worker }))),
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
  const sum = (of: (one: SeenStore) => number) => seen.reduce((all, one) => all + of(one), 0);
  return {
    ...{ upstream, store, weight },
    state: down.length > 0 && down.length < seen.length ? 'partly' : first!.state,
    // Up since the last process saw it up; otherwise since the first saw the failure.
    since: worst === seen ? Math.max(...seen.map(({ since }) => since)) : first!.since,
    reason: first!.reason,
    of: seen.length,
    down: down.length,
    inFlight: sum(({ inFlight }) => inFlight),
    requests: sum(({ requests }) => requests),
    failures: sum(({ failures }) => failures),
    retries: sum(({ retries }) => retries),
    connections: sumOfConnections(seen),
    seen,
  };
}

export function sumOfConnections(all: readonly StoreConnections[]): StoreConnections {
  const sum = (name: keyof StoreConnections) => all.reduce((total, one) => total + one[name], 0);
  return { open: sum('open'), idle: sum('idle'), waiting: sum('waiting'), most: sum('most') };
}
