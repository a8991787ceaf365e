import type { Gateway, Process } from '@storegate/admin-api';
import {
  backendProblem,
  configurationProblems,
  connectionsInWords,
  isWell,
  lostGateway,
  missingGateways,
  NO_GATEWAY,
  reasonInWords,
  span,
  stateInWords,
  withoutRedis,
} from '@storegate/admin-api/words';
import { call } from '../command.ts';
import { inSentence } from '../output.ts';

const COLUMNS = [
  'gateway',
  'version',
  'up',
  'readiness',
  'state',
  'backend',
  'workers',
  'inFlight',
  'configuration',
];
const STORE_COLUMNS = [
  'upstream',
  'backend',
  'state',
  'since',
  'reason',
  'weight',
  'inFlight',
  'requests',
  'failures',
  'retries',
  'connections',
];

export const statusCommand = call('status', 'show the status of all gateways', {
  details:
    'Exit code 1: a gateway did not respond. A configuration digest that differs from most gateways has a "!".',
  examples: ['status --url http://127.0.0.1:9901'],
  ask: (api) => api.call('getStatus'),
  view: {
    text: (status, page) =>
      page.table(COLUMNS, status.gateways.map(rowOf), NO_GATEWAY) +
      page.notes(
        ...status.gateways.flatMap(problemsOf),
        ...status.lost.map((gateway) => lostGateway(gateway, inSentence)),
        ...missingGateways(status),
      ),
    names: ({ gateways }) => gateways.map(({ gateway }) => gateway),
  },
  failure: ({ unresponsive, lost, isolated }) =>
    unresponsive.length === 0 && lost.length === 0 && isolated === null
      ? null
      : 'Not every gateway responded.',
});

export const backendsCommand = call('backends', 'list upstream backends and their health', {
  ask: (api) => api.call('listBackends'),
  view: {
    text: (answer, page) =>
      page.table(
        STORE_COLUMNS,
        answer.backends.map((one) => ({
          ...one,
          state: stateInWords(one),
          reason: reasonInWords(one),
          connections: connectionsInWords(one.connections),
        })),
        answer.unresponsive.length === 0 ? NO_GATEWAY : 'No backends.',
      ) + page.notes(...missingGateways(answer)),
    names: ({ backends }) => backends.map(({ backend }) => backend),
  },
});

function rowOf(one: Gateway) {
  const { gateway, version, uptime, readiness, workers, processes, configuration, inFlight } = one;
  const digests = (['settings', 'plans', 'contract'] as const).map(
    (name) =>
      `${configuration[name].slice(0, 6)}${configuration.differs.includes(name) ? '!' : ''}`,
  );
  return {
    gateway,
    version,
    up: span(uptime * 1_000),
    readiness,
    state: stateOf(one),
    backend: connectionsOf(processes),
    workers: workers === 0 ? null : `${processes.length} of ${workers}`,
    inFlight,
    configuration: digests.join(' '),
  };
}

/** For example `redis, single 0.4 ms`. */
function stateOf({ state, processes }: Gateway): string {
  if (processes.some(({ localSince }) => localSince !== null)) return `${state}: down`;
  const times = processes.map(({ stateMs }) => stateMs).filter((time) => time !== null);
  if (times.length === 0) return state;
  return `${state} ${(times.reduce((sum, time) => sum + time, 0) / times.length).toFixed(1)} ms`;
}

function connectionsOf(processes: readonly Process[]): string {
  const sum = (name: keyof Process['backend']) =>
    processes.reduce((all, { backend }) => all + backend[name], 0);
  return connectionsInWords({
    open: sum('open'),
    idle: sum('idle'),
    waiting: sum('waiting'),
    limit: sum('limit'),
  });
}

function problemsOf(one: Gateway): string[] {
  const since = one.processes
    .flatMap(({ localSince }) => (localSince === null ? [] : [localSince]))
    .sort()[0];
  return [
    ...configurationProblems(one, inSentence).map(({ words }) => words),
    ...(since === undefined ? [] : [withoutRedis(one.gateway, since, inSentence)]),
    ...one.backends
      .filter((backend) => !isWell(backend))
      .map((backend) => `${one.gateway}: ${backendProblem(backend, inSentence)}`),
  ];
}
