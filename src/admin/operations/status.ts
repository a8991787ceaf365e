import { roundMilliseconds } from '../../common/time.ts';
import { ask } from '../../observe/peers/peers.ts';
import { type GatewayStatus, type ProcessStatus, status } from '../../observe/peers/status.ts';
import { type SeenStore, type StoreOfAll, storesOfAll } from '../../observe/peers/stores.ts';
import { type AdminOperations, ok } from '../call.ts';
import type { AdminContext } from '../context.ts';
import {
  contractCopyView,
  coverageOf,
  lostView,
  readinessOf,
  shownConnections,
  stateOf,
  time,
} from '../view.ts';

const COMPARED = ['settings', 'plans', 'contract'] as const;
type Compared = (typeof COMPARED)[number];

export function statusOperations(context: AdminContext) {
  return {
    getStatus: async () => {
      const { answers, silent, lost, apart } = await ask(context.peers(), status, null);
      const differing = differencesIn(answers.map(({ answer }) => answer));
      const gateways = answers.map(({ gateway, answer }, i) =>
        shown(gateway, answer, differing[i]!, context.clock()),
      );
      return ok({ gateways, lost: lostView(lost), ...coverageOf({ silent, apart }) });
    },
    listStores: async () => {
      const { answers, silent, apart } = await ask(context.peers(), status, null);
      const gateways = answers.map(({ gateway, answer: { processes } }) => ({
        gateway,
        processes,
      }));
      const stores = storesOfAll(gateways).map((store) => ({
        ...storeView(store),
        processes: store.seen.map(observationView),
      }));
      return ok({ stores, ...coverageOf({ silent, apart }) });
    },
  } satisfies Partial<AdminOperations>;
}

/** Per gateway, the parts that differ from most gateways. */
function differencesIn(statuses: readonly GatewayStatus[]): (readonly Compared[])[] {
  const usual = new Map(
    COMPARED.map((part) => [
      part,
      mostFrequent(statuses.map(({ configuration }) => configuration[part])),
    ]),
  );
  return statuses.map(({ configuration }) =>
    COMPARED.filter((part) => configuration[part] !== usual.get(part)),
  );
}

/** Ties go to the first. */
function mostFrequent(values: readonly string[]): string | undefined {
  const groups = [...Map.groupBy(values, (value) => value)];
  return groups.sort(([, one], [, other]) => other.length - one.length)[0]?.[0];
}

function shown(gateway: string, status: GatewayStatus, differs: readonly Compared[], now: number) {
  const { startedAt, processes, configuration, readiness, ...rest } = status;
  const { lastReload, waiting, copy, ...digests } = configuration;
  return {
    gateway,
    ...rest,
    readiness: readinessOf(readiness),
    started: time(startedAt),
    uptime: Math.max(0, Math.round((now - startedAt) / 1000)),
    inFlight: processes.reduce((sum, { inFlight }) => sum + inFlight, 0),
    processes: processes.map(processView),
    stores: storesOfAll([{ gateway, processes }]).map(storeView),
    configuration: {
      ...digests,
      contractCopy: contractCopyView(copy),
      differs,
      pendingRestart: waiting,
      lastReload: lastReload && { ...lastReload, at: time(lastReload.at) },
    },
  };
}

function processView({ aloneSince, stateTime, store, stores: _stores, ...rest }: ProcessStatus) {
  return {
    ...rest,
    store: shownConnections(store),
    localSince: time(aloneSince),
    stateMs: roundMilliseconds(stateTime),
  };
}

export function storeView({
  seen: _seen,
  since,
  state,
  of,
  down,
  connections,
  ...rest
}: StoreOfAll) {
  return {
    ...rest,
    state: stateOf(state),
    since: time(since),
    total: of,
    down,
    connections: shownConnections(connections),
  };
}

function observationView(seen: SeenStore) {
  const { gateway, worker, state, since, reason, inFlight, requests, failures, retries } = seen;
  return {
    gateway,
    worker,
    state: stateOf(state),
    reason,
    inFlight,
    requests,
    failures,
    retries,
    since: time(since),
    connections: shownConnections(seen),
  };
}
