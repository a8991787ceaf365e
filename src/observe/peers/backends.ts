import type {
  BackendConnections,
  BackendState,
  BackendStatus,
  ProcessStatus,
} from './status.ts';

export interface BackendOfAll
  extends Omit<BackendStatus, 'state' | keyof BackendConnections> {
  /** `partial`: up for some processes only. */
  readonly state: BackendState | 'partial';
  readonly total: number;
  readonly down: number;
  readonly connections: BackendConnections;
  readonly seen: readonly SeenBackend[];
}

export interface SeenBackend extends BackendStatus {
  readonly gateway: string;
  readonly worker: number | null;
}

interface ProcessesOf {
  readonly gateway: string;
  readonly processes: readonly Pick<ProcessStatus, 'worker' | 'backends'>[];
}

export function backendsOfAll(
  gateways: readonly ProcessesOf[],
): BackendOfAll[] {
  const seen = gateways.flatMap(({ gateway, processes }) =>
    processes.flatMap(({ worker, backends }) =>
      backends.map((backend) => ({ ...backend, gateway, worker })),
    ),
  );
  const byUpstream = Map.groupBy(seen, ({ upstream }) => upstream);
  return [...byUpstream.values()].flatMap((ofOne) =>
    [...Map.groupBy(ofOne, ({ backend }) => backend).values()].map(together),
  );
}

function together(seen: readonly SeenBackend[]): BackendOfAll {
  const { upstream, backend, weight } = seen[0]!;
  const down = seen.filter(({ state }) => state === 'down');
  const recovering = seen.filter(({ state }) => state === 'recovering');
  const worst = [down, recovering, seen].find((some) => some.length > 0)!;
  const [first] = worst.toSorted((one, other) => one.since - other.since);
  return {
    upstream,
    backend,
    weight,
    total: seen.length,
    down: down.length,
    seen,
    state:
      down.length > 0 && down.length < seen.length ? 'partial' : first!.state,
    // Up since the last process saw it up; otherwise since the first saw the failure.
    since:
      worst === seen
        ? Math.max(...seen.map(({ since }) => since))
        : first!.since,
    reason: first!.reason,
    inFlight: sum(seen, 'inFlight'),
    requests: sum(seen, 'requests'),
    failures: sum(seen, 'failures'),
    retries: sum(seen, 'retries'),
    connections: sumOfConnections(seen),
  };
}

export function sumOfConnections(
  all: readonly BackendConnections[],
): BackendConnections {
  return {
    open: sum(all, 'open'),
    idle: sum(all, 'idle'),
    waiting: sum(all, 'waiting'),
    most: sum(all, 'most'),
  };
}

function sum<N extends string>(
  all: readonly Readonly<Record<N, number>>[],
  name: N,
): number {
  return all.reduce((total, one) => total + one[name], 0);
}
