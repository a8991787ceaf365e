import type { Gateway, Process, Status } from '@storegate/console';
import { isWell, reasonInWords, stateInWords } from '@storegate/console/words';
import { Command } from 'commander';
import { type Common, operatorCommand, perform } from '../command.ts';
import { withSilent } from '../fleet.ts';
import { type Api, CallError } from '../reach/api.ts';
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
      isWhole = status.silent.length === 0 && status.lost.length === 0 && status.apart === null;
      return status;
    };
    await perform(terminal, options, ask, showStatus);
    if (!isWhole) throw new CallError('Not every gateway answered.');
  });
}

function showStatus(status: Status, colour: boolean): string {
  const { gateways } = status;
  const seen = gateways.length > 0 ? table(COLUMNS, gateways.map(rowOf), colour) : 'No gateway runs.\n';
  const lost = status.lost.map(({ gateway, at }) => `${gateway} was last heard at ${at} and did not stop.`);
  return seen + withSilent([...gateways.flatMap(remarksOn), ...lost], status);
}

function rowOf(one: Gateway) {
  const { gateway, version, uptime, readiness, workers, processes, configuration } = one;
  const { settings, plans, contract, differs } = configuration;
  const part = (name: (typeof differs)[number], digest: string) =>
    `${digest.slice(0, 6)}${differs.includes(name) ? '!' : ''}`;
  return {
    gateway,
    version,
    up: roughly(uptime),
    readiness,
    state: stateOf(one),
    store: storeOf(processes),
    workers: workers === 0 ? null : `${processes.length} of ${workers}`,
    'in flight': one.inFlight,
    configuration: [part('settings', settings), part('plans', plans), part('contract', contract)].join(' '),
  };
}

/** Seconds in the two largest units: `3d 4h`. */
function roughly(seconds: number): string {
  const units = [
    ['d', Math.floor(seconds / 86_400)],
    ['h', Math.floor(seconds / 3_600) % 24],
    ['m', Math.floor(seconds / 60) % 60],
    ['s', seconds % 60],
  ] as const;
  const first = units.findIndex(([, count]) => count > 0);
  const told = units.slice(first === -1 ? -1 : first).slice(0, 2);
  return told.map(([unit, count]) => `${count}${unit}`).join(' ');
}

/** The kind of the state, and how it is: `redis, single 0.4 ms`. */
function stateOf({ state, processes }: Gateway): string {
  if (processes.some(({ aloneSince }) => aloneSince !== null)) return `${state}: away`;
  const times = processes.map(({ stateMs }) => stateMs).filter((time) => time !== null);
  if (times.length === 0) return state;
  return `${state} ${(times.reduce((sum, time) => sum + time, 0) / times.length).toFixed(1)} ms`;
}

/** Connections in use of those there may be. */
function storeOf(processes: readonly Process[]): string {
  const sum = (of: (store: Process['store']) => number) => processes.reduce((all, { store }) => all + of(store), 0);
  const waiting = sum(({ waiting }) => waiting);
  return `${sum(({ open, idle }) => open - idle)} of ${sum(({ most }) => most)}${waiting > 0 ? `, ${waiting} wait` : ''}`;
}

function remarksOn({ gateway, processes, stores, configuration }: Gateway): string[] {
  const { differs, waiting, lastReload } = configuration;
  const alone = processes.map(({ aloneSince }) => aloneSince).filter((since) => since !== null);
  const remarks: string[] = [];
  if (differs.length > 0) remarks.push(`has other ${differs.join(', ')} than most gateways (marked with !)`);
  if (waiting.length > 0) remarks.push(`needs a restart for ${waiting.join(', ')}`);
  if (alone.length > 0) remarks.push(`decides without the shared state since ${alone.sort()[0]}`);
  for (const store of stores.filter((one) => !isWell(one)))
    remarks.push(
      `sees the store ${store.store} of ${store.upstream} ${stateInWords(store)} since ${store.since}: ${reasonInWords(store)}`,
    );
  if (lastReload && lastReload.problems.length > 0)
    remarks.push(`refused its files at ${lastReload.at}: ${lastReload.problems.join('; ')}`);
  return remarks.map((remark) => `${gateway} ${remark}.`);
}
