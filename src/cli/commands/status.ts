import type { Finding, Gateway, LostGateway } from '@storegate/admin-api';
import {
  connectionsText,
  findingText,
  healthText,
  missingGateways,
  NO_GATEWAY,
  reasonText,
  span,
  stateText,
  statusText,
  withCommand,
} from '@storegate/admin-api/text';
import { call, type Options, operation, option } from '../command.ts';
import { CommandError } from '../connect/api.ts';
import { doneView, inSentence, safeText } from '../output.ts';

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

export const statusCommand = call(
  'status',
  'show the health and status of all gateways',
  {
    localOptions: [option('--strict', 'exit with 1 if degraded')],
    details:
      'The first line has the health: OK, Degraded (something does not work as configured) or Down (requests fail, exit code 2). A configuration that differs from most gateways has a "!".',
    examples: ['status --url http://127.0.0.1:9901', 'status --strict'],
    ...operation('getStatus'),
    view: ({ health, gateways }, page) => {
      const findings = health.findings.map(withCommand);
      const line = healthText({ ...health, findings }, inSentence);
      return (
        `${safeText(line)}\n` +
        page.table(COLUMNS, gateways.map(rowOf)) +
        page.notes(...findings.slice(1).map(lineOf))
      );
    },
    failure: (
      { health: { status } },
      { strict }: Options & { readonly strict?: true },
    ) => {
      if (status === 'down')
        return new CommandError('Requests fail.', { failure: 'down' });
      return strict && status === 'degraded'
        ? new CommandError('Something does not work as configured.')
        : null;
    },
    commands: [
      call('forget <gateway>', 'remove a lost gateway from the list', {
        details: 'Status names it. A gateway that still runs is listed again.',
        examples: ['status forget edge-1:4711'],
        ...operation('forgetGateway'),
        view: doneView(
          ({ gateway }: LostGateway) => `${gateway} is forgotten.`,
        ),
      }),
    ],
  },
);

function lineOf(finding: Finding): string {
  const { status, cause } = finding;
  const word = status === 'ok' ? 'Note' : statusText(status);
  const words = findingText(finding, inSentence);
  return cause === null ? `${word}: ${words}` : `  follows: ${words}`;
}

export const backendsCommand = call(
  'backends',
  'list upstream backends and their health',
  {
    ...operation('listBackends'),
    view: (response, page) =>
      page.table(
        STORE_COLUMNS,
        response.backends.map((one) => ({
          ...one,
          state: stateText(one),
          reason: reasonText(one),
          connections: connectionsText(one.connections),
        })),
        response.unresponsive.length === 0 ? NO_GATEWAY : 'No backends.',
      ) + page.notes(...missingGateways(response, inSentence)),
  },
);

function rowOf(one: Gateway) {
  const { uptime, workers, processes, configuration } = one;
  const digests = (['settings', 'plans', 'contract'] as const).map(
    (name) =>
      `${configuration[name].slice(0, 6)}${configuration.differs.includes(name) ? '!' : ''}`,
  );
  return {
    ...one,
    up: span(uptime * 1_000),
    state: stateOf(one),
    backend: connectionsText(...processes.map(({ backend }) => backend)),
    workers: workers === 0 ? null : `${processes.length} of ${workers}`,
    configuration: digests.join(' '),
  };
}

/** For example `redis, single 0.4 ms`. */
function stateOf({ state, processes }: Gateway): string {
  if (processes.some(({ localSince }) => localSince !== null))
    return `${state}: down`;
  const times = processes
    .map(({ stateMs }) => stateMs)
    .filter((time) => time !== null);
  if (times.length === 0) return state;
  return `${state} ${(times.reduce((sum, time) => sum + time, 0) / times.length).toFixed(1)} ms`;
}
