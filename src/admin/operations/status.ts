import type { Configuration } from '@storegate/admin-api';
import { judgeHealth, refusesMany } from '@storegate/admin-api/text';
import { roundMilliseconds } from '../../common/time.ts';
import {
  backendsOfAll,
  type SeenBackend,
} from '../../observe/peers/backends.ts';
import { ask } from '../../observe/peers/peers.ts';
import {
  type GatewayStatus,
  type ProcessStatus,
  status,
} from '../../observe/peers/status.ts';
import { rowIn } from '../../observe/traffic/packing.ts';
import { durationsIn, outcomesIn } from '../../observe/traffic/row.ts';
import { AdminError } from '../admin-error.ts';
import type { AdminOperations } from '../call.ts';
import type { Change, ChangeEntry } from '../change.ts';
import type { AdminContext } from '../context.ts';
import { healthFacts } from '../health.ts';
import { isolationText } from '../ledger.ts';
import {
  backendView,
  contractCopyView,
  shownConnections,
  time,
} from '../view.ts';
import { rankClients } from './traffic.ts';

type Differing = Configuration['differs'];

export function statusOperations(context: AdminContext, change: Change) {
  return {
    getStatus: async () => {
      const response = await ask(context.peers(), status, null);
      const now = context.clock();
      const facts = healthFacts(response, now);
      const { backends, lost, unresponsive } = facts;
      const isolated = isolationText(context, facts.isolated);
      const gateways = response.responses.map((one, i) =>
        shown(one.gateway, one.response, facts.gateways[i]!.differs, now),
      );
      const mostRefused = refusesMany(facts.traffic)
        ? await mostRefusedClient(context)
        : null;
      const health = judgeHealth({ ...facts, mostRefused });
      return { health, gateways, backends, lost, unresponsive, isolated };
    },
    forgetGateway: (task) => {
      const name = task.path.gateway;
      return change(task, `gateway:${name}`, async ({ make }) => {
        const peers = context.peers();
        const { lost } = healthFacts(
          await ask(peers, status, null),
          context.clock(),
        );
        const found = lost.find(({ gateway }) => gateway === name);
        if (!found)
          throw new AdminError(
            'not_found',
            `No lost gateway has the name ${JSON.stringify(name)}.`,
          );
        const entry: ChangeEntry = {
          action: 'gateways.forget',
          target: name,
          before: found,
          after: null,
        };
        return await make([{ entry, make: () => peers.forget(name) }], found);
      });
    },
    listBackends: async () => {
      const { responses, unresponsive, isolated } = await ask(
        context.peers(),
        status,
        null,
      );
      const gateways = responses.map(({ gateway, response }) => ({
        gateway,
        ...response,
      }));
      const backends = backendsOfAll(gateways).map((backend) => ({
        ...backendView(backend),
        processes: backend.seen.map(observationView),
      }));
      return {
        backends,
        unresponsive,
        isolated: isolationText(context, isolated),
      };
    },
  } satisfies Partial<AdminOperations>;
}

function shown(
  gateway: string,
  status: GatewayStatus,
  differs: Differing,
  now: number,
) {
  const {
    startedAt,
    processes,
    configuration,
    readiness,
    conditions: _own,
    ...rest
  } = status;
  const { lastReload, waiting, copy, ...digests } = configuration;
  return {
    gateway,
    ...rest,
    readiness,
    started: time(startedAt),
    uptime: Math.max(0, Math.round((now - startedAt) / 1000)),
    inFlight: processes.reduce((sum, { inFlight }) => sum + inFlight, 0),
    processes: processes.map(processView),
    configuration: {
      ...digests,
      contractCopy: contractCopyView(copy),
      differs,
      pendingRestart: waiting,
      lastReload: lastReload && { ...lastReload, at: time(lastReload.at) },
    },
  };
}

/** The client of the last minute: its key, or its plan without a key. */
async function mostRefusedClient(
  context: AdminContext,
): Promise<string | null> {
  const { ranking } = await rankClients(
    context,
    'refused',
    'minute',
    context.clock(),
  );
  const [most] = ranking.items(1);
  return most?.client?.key ?? most?.client?.plan ?? null;
}

function processView({
  localSince,
  stateTime,
  backend,
  backends: _backends,
  conditions: _conditions,
  traffic: _lastMinute,
  counted,
  ...rest
}: ProcessStatus) {
  const row = rowIn(counted);
  return {
    ...rest,
    traffic: { ...outcomesIn(row), durations: durationsIn(row) },
    backend: shownConnections(backend),
    localSince: time(localSince),
    stateMs: roundMilliseconds(stateTime),
  };
}

function observationView(seen: SeenBackend) {
  const {
    gateway,
    worker,
    state,
    since,
    reason,
    inFlight,
    requests,
    failures,
    retries,
  } = seen;
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
