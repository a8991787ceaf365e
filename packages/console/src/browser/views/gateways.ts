import { h } from 'preact';
import type { Gateway, StoreWithProcesses } from '../../admin-api.ts';
import { useAnswer } from '../api/use-answer.ts';
import { bytes, milliseconds, number, span } from '../format.ts';
import { Badge, Missing } from '../parts/notice.ts';
import { StoreTable } from '../parts/store-table.ts';
import { type Column, Table } from '../parts/table.ts';
import { Time } from '../parts/time.ts';
import { answerView, View } from '../parts/view.ts';
import { connectionsInWords } from '../sentences/gateways.ts';

/** `storegate status` and `storegate stores`: every gateway that shares the state, and the stores behind them. */
export function Gateways() {
  const answer = useAnswer('/status', { every: 5_000 });
  const stores = useAnswer('/stores', { every: 5_000 });
  return h(View, { title: 'Gateways', about: 'Running gateways and differences in their configuration' }, [
    answerView(answer, (status) => [h(Missing, { ...status }), h(PeerGateways, { gateways: status.gateways })]),
    h('section', { 'aria-label': 'Stores' }, [
      h('h2', null, 'Stores'),
      answerView(stores, (status) => [
        h(Missing, { ...status }),
        h(StoreTable<StoreWithProcesses>, {
          stores: status.stores,
          more: status.stores.some((one) => one.state === 'partial') ? [...MORE, AWAY_FOR] : MORE,
        }),
      ]),
    ]),
  ]);
}

const WORDS = {
  ready: 'ready',
  stopping: 'stopping',
  state_down: 'state down',
  upstreams_down: 'stores down',
  no_workers: 'no worker',
} as const;

function PeerGateways({ gateways }: { gateways: readonly Gateway[] }) {
  return h(Table<Gateway>, {
    caption: 'Gateways with this state',
    rows: gateways,
    keyOf: ({ gateway }) => gateway,
    empty: 'No gateway responded.',
    toneOf: ({ readiness }) => (readiness === 'ready' ? undefined : 'bad'),
    columns: [
      { title: 'Gateway', names: true, cell: ({ gateway }) => gateway },
      {
        title: 'Status',
        cell: ({ readiness }) => h(Badge, { tone: readiness === 'ready' ? 'good' : 'bad' }, WORDS[readiness]),
      },
      { title: 'Version', cell: ({ version, node }) => `${version} · Node ${node}` },
      {
        title: 'Up for',
        cell: ({ uptime, started }) => h('time', { dateTime: started, title: started }, span(uptime * 1_000)),
      },
      { title: 'State', cell: stateOf },
      { title: 'In flight', figure: true, cell: ({ inFlight }) => number(inFlight) },
      { title: 'Processes', cell: processesOf },
      { title: 'Memory', figure: true, cell: ({ processes }) => bytes(sum(processes.map(({ memory }) => memory))) },
      { title: 'Configuration', cell: configurationOf },
    ],
  });
}

const MORE: readonly Column<StoreWithProcesses>[] = [
  { title: 'Retries', figure: true, cell: ({ retries }) => number(retries) },
  { title: 'Connections', cell: ({ connections }) => connectionsInWords(connections) },
];

/** Names the processes that see a backend down while others do not. */
const AWAY_FOR: Column<StoreWithProcesses> = {
  title: 'Down for',
  cell: ({ processes }) => {
    const down = processes.filter((one) => one.state === 'down');
    if (down.length === 0) return '–';
    return down.map(({ gateway, worker }) => (worker === null ? gateway : `${gateway}, worker ${worker}`)).join('; ');
  },
};

function stateOf({ state, processes }: Gateway) {
  const since = processes.flatMap(({ localSince }) => (localSince === null ? [] : [localSince])).sort()[0];
  if (since !== undefined) return [`${state}, down since `, h(Time, { at: since })];
  const times = processes.flatMap(({ stateMs }) => (stateMs === null ? [] : [stateMs]));
  return times.length === 0 ? state : `${state}, ${milliseconds(Math.max(...times))}`;
}

function processesOf({ workers, processes }: Gateway) {
  if (workers === 0) return 'one process';
  return processes.length === workers ? `${workers} workers` : `${processes.length} of ${workers} workers respond`;
}

function configurationOf({ configuration: { differs, pendingRestart, lastReload } }: Gateway) {
  if (differs.length > 0) return h(Badge, { tone: 'warn' }, `other ${differs.join(', ')}`);
  if (lastReload && lastReload.problems.length > 0) return h(Badge, { tone: 'bad' }, 'last reload refused');
  return pendingRestart.length > 0 ? h(Badge, { tone: 'warn' }, 'waits for a restart') : 'as the others';
}

const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0);
