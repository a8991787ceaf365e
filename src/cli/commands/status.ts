import type { Gateway, Process, Status } from '@storegate/console';
import {
  configurationProblems,
  isWell,
  lostGateway,
  NO_GATEWAY,
  span,
  storeProblem,
  withoutRedis,
} from '@storegate/console/words';
import { Command } from 'commander';
import { type Common, operatorCommand, perform } from '../command.ts';
import { type Api, CallError } from '../connect/api.ts';
import { inSentence, withUnresponsive } from '../peers.ts';
import { table } from '../table.ts';
import type { Terminal } from '../terminal.ts';

const COLUMNS = [
  'gateway',
  'version',
  'up',
  'readiness',
  'state',
  'store',
  'workers',
  'in flight',
  'configuration',
] as const;

export function statusCommand(terminal: Terminal): Command {
  return operatorCommand(
    new Command('status').description('show how every gateway stands that shares the state'),
    'status',
    'status --url http://127.0.0.1:9901 --json',
  ).action(async (options: Common) => {
    let isWhole = true;
    const ask = async (api: Api) => {
      const status = await api.call<Status>('GET', '/status');
      isWhole = status.unresponsive.length === 0 && status.lost.length === 0 && status.isolated === null;
      return status;
    };
    await perform(terminal, options, ask, showStatus);
    if (!isWhole) throw new CallError('Not every gateway responded.');
  });
}

function showStatus(status: Status, colour: boolean): string {
  const { gateways } = status;
  const seen = gateways.length > 0 ? table(COLUMNS, gateways.map(rowOf), colour) : `${NO_GATEWAY}\n`;
  const lost = status.lost.map((gateway) => lostGateway(gateway, inSentence));
  return seen + withUnresponsive([...gateways.flatMap(remarksOn), ...lost], status);
}

function rowOf(one: Gateway) {
  const { gateway, version, uptime, readiness, workers, processes, configuration } = one;
  const { settings, plans, contract, differs } = configuration;
  const part = (name: (typeof differs)[number], digest: string) =>
    `${digest.slice(0, 6)}${differs.includes(name) ? '!' : ''}`;
  return {
    gateway,
    version,
    up: span(uptime * 1_000),
    readiness,
    state: stateOf(one),
    store: storeOf(processes),
    workers: workers === 0 ? null : `${processes.length} of ${workers}`,
    'in flight': one.inFlight,
    configuration: [part('settings', settings), part('plans', plans), part('contract', contract)].join(' '),
  };
}

/** The kind of the state, and how it is: `redis, single 0.4 ms`. */
function stateOf({ state, processes }: Gateway): string {
  if (processes.some(({ localSince: aloneSince }) => aloneSince !== null)) return `${state}: down`;
  const times = processes.map(({ stateMs }) => stateMs).filter((time) => time !== null);
  if (times.length === 0) return state;
  return `${state} ${(times.reduce((sum, time) => sum + time, 0) / times.length).toFixed(1)} ms`;
}

/** Connections in use of those there may be. */
function storeOf(processes: readonly Process[]): string {
  const sum = (of: (store: Process['store']) => number) => processes.reduce((all, { store }) => all + of(store), 0);
  const waiting = sum(({ waiting }) => waiting);
  return `${sum(({ open, idle }) => open - idle)} of ${sum(({ limit: most }) => most)}${waiting > 0 ? `, ${waiting} waiting` : ''}`;
}

function remarksOn(one: Gateway): string[] {
  const since = one.processes
    .flatMap(({ localSince: aloneSince }) => (aloneSince === null ? [] : [aloneSince]))
    .sort()[0];
  return [
    ...configurationProblems(one, inSentence).map(({ words }) => words),
    ...(since === undefined ? [] : [withoutRedis(one.gateway, since, inSentence)]),
    ...one.stores
      .filter((store) => !isWell(store))
      .map((store) => `${one.gateway}: ${storeProblem(store, inSentence)}`),
  ];
}
