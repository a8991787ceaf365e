import type { Configuration } from '@storegate/admin-api';
import { roundMilliseconds } from '../../common/time.ts';
import {
  type BackendOfAll,
  backendsOfAll,
  type SeenBackend,
} from '../../observe/peers/backends.ts';
import { ask } from '../../observe/peers/peers.ts';
import { type GatewayStatus, type ProcessStatus, status } from '../../observe/peers/status.ts';
import { type AdminOperations, ok } from '../call.ts';
import type { AdminContext } from '../context.ts';
import { contractCopyView, lostView, shownConnections, time } from '../view.ts';

type Differing = Configuration['differs'];
const COMPARED: Differing = ['settings', 'plans', 'contract'];

export function statusOperations(context: AdminContext) {
  return {
    getStatus: async () => {
      const { answers, unresponsive, lost, isolated } = await ask(context.peers(), status, null);
      const differing = differencesIn(answers.map(({ answer }) => answer));
      const gateways = answers.map(({ gateway, answer }, i) =>
        shown(gateway, answer, differing[i]!, context.clock()),
      );
      return ok({ gateways, lost: lostView(lost), unresponsive, isolated });
    },
    listBackends: async () => {
      const { answers, unresponsive, isolated } = await ask(context.peers(), status, null);
      const gateways = answers.map(({ gateway, answer: { processes } }) => ({
        gateway,
        processes,
      }));
      const backends = backendsOfAll(gateways).map((backend) => ({
        ...backendView(backend),
        processes: backend.seen.map(observationView),
      }));
      return ok({ backends, unresponsive, isolated });
    },
  } satisfies Partial<AdminOperations>;
}

/** Per gateway, the parts that differ from most gateways. */
function differencesIn(statuses: readonly GatewayStatus[]): Differing[] {
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

function shown(gateway: string, status: GatewayStatus, differs: Differing, now: number) {
  const { startedAt, processes, configuration, readiness, ...rest } = status;
  const { lastReload, waiting, copy, ...digests } = configuration;
  return {
    gateway,
    ...rest,
    readiness,
    started: time(startedAt),
    uptime: Math.max(0, Math.round((now - startedAt) / 1000)),
    inFlight: processes.reduce((sum, { inFlight }) => sum + inFlight, 0),
    processes: processes.map(processView),
    backends: backendsOfAll([{ gateway, processes }]).map(backendView),
    configuration: {
      ...digests,
      contractCopy: contractCopyView(copy),
      differs,
      pendingRestart: waiting,
      lastReload: lastReload && { ...lastReload, at: time(lastReload.at) },
    },
  };
}

function processView({
  localSince,
  stateTime,
  backend,
  backends: _backends,
  ...rest
}: ProcessStatus) {
  return {
    ...rest,
    backend: shownConnections(backend),
    localSince: time(localSince),
    stateMs: roundMilliseconds(stateTime),
  };
}

export function backendView({
  seen: _seen,
  since,
  state,
  total,
  down,
  connections,
  ...rest
}: BackendOfAll) {
  return {
    ...rest,
    state,
    since: time(since),
    total,
    down,
    connections: shownConnections(connections),
  };
}

function observationView(seen: SeenBackend) {
  const { gateway, worker, state, since, reason, inFlight, requests, failures, retries } = seen;
  return {
    gateway,
    worker,
    state,
    reason,
    inFlight,
    requests,
    failures,
    retries,
    since: time(since),
    connections: shownConnections(seen),
  };
}
