import type {
  BackendWithProcesses,
  Gateway,
  LostGateway,
} from '@storegate/admin-api';
import {
  connectionsText,
  processName,
  slowestOf,
  span,
} from '@storegate/admin-api/text';
import { h } from 'preact';
import { call } from '../api/client.ts';
import { useQuery } from '../api/hooks.ts';
import { bytes, milliseconds, total } from '../format.ts';
import { type Action, type Actions, useActions } from '../parts/action.ts';
import { BackendTable } from '../parts/backend-table.ts';
import {
  Badge,
  countColumn,
  rowHeader,
  Table,
  Time,
  textColumn,
  timeColumn,
} from '../parts/data.ts';
import { queryView, View } from '../parts/view.ts';
import { useMay } from '../session.ts';

/**
 * `storegate status` and `storegate backends`: every gateway that shares the state, and the backends
 * behind them.
 */
export function Gateways() {
  const query = useQuery('getStatus', { every: 5_000 });
  const backends = useQuery('listBackends', { every: 5_000 });
  const actions = useActions(query);
  const mayOperate = useMay('operate');
  return h(
    View,
    {
      title: 'Gateways',
      about: 'Running gateways and differences in their configuration',
    },
    [
      queryView(query, (status) => [
        h(PeerGateways, { gateways: status.gateways }),
        status.lost.length > 0 &&
          h(LostGateways, {
            lost: status.lost,
            actions: mayOperate ? actions : null,
          }),
      ]),
      actions.dialog,
      h('section', { 'aria-label': 'Backends' }, [
        h('h2', null, 'Backends'),
        queryView(backends, (status) =>
          h(BackendTable<BackendWithProcesses>, {
            backends: status.backends,
            more: [
              countColumn('Retries', 'retries'),
              [
                'Connections',
                ({ connections }: BackendWithProcesses) =>
                  connectionsText(connections),
              ],
              status.backends.some((one) => one.state === 'partial') && [
                'Down for',
                downFor,
              ],
            ],
          }),
        ),
      ]),
    ],
  );
}

const LABELS = {
  ready: 'ready',
  stopping: 'stopping',
  state_down: 'state down',
  upstreams_down: 'backends down',
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
      rowHeader(textColumn('Gateway', 'gateway')),
      [
        'Status',
        ({ readiness }) =>
          h(
            Badge,
            { tone: readiness === 'ready' ? 'good' : 'bad' },
            LABELS[readiness],
          ),
      ],
      ['Version', ({ version, node }) => `${version} · Node ${node}`],
      [
        'Up for',
        ({ uptime, started }) =>
          h(
            'time',
            { dateTime: started, title: started },
            span(uptime * 1_000),
          ),
      ],
      ['State', stateOf],
      countColumn('In flight', 'inFlight'),
      ['Processes', processesOf],
      [
        'Memory',
        ({ processes }) => bytes(total(processes, ({ memory }) => memory)),
        'figure',
      ],
      ['Configuration', configurationOf],
    ],
  });
}

/** Gateways that did not shut down. */
function LostGateways({
  lost,
  actions,
}: {
  lost: readonly LostGateway[];
  actions: Actions | null;
}) {
  return h(Table<LostGateway>, {
    caption: 'Lost gateways',
    rows: lost,
    keyOf: ({ gateway }) => gateway,
    toneOf: ({ replaced }) => (replaced === null ? 'warn' : undefined),
    columns: [
      rowHeader(textColumn('Lost gateway', 'gateway')),
      timeColumn('Last seen', 'at'),
      timeColumn('Replaced', 'replaced'),
      actions !== null && [
        'Actions',
        ({ gateway }) => actions.button(forgetAction(gateway)),
      ],
    ],
  });
}

const forgetAction = (gateway: string): Action => ({
  title: `Forget ${gateway}`,
  verb: 'Forget',
  effect:
    'Removes the gateway from the list. If it still runs, it is listed again.',
  async run(_form, reason) {
    await call('forgetGateway', { params: { gateway }, reason });
    return null;
  },
});

/** The processes that see a backend down while others do not. */
function downFor({ processes }: BackendWithProcesses): string {
  const down = processes
    .filter(({ state }) => state === 'down')
    .map(processName);
  return down.join('; ') || '–';
}

function stateOf({ state, processes }: Gateway) {
  const [since] = processes
    .map(({ localSince }) => localSince)
    .filter((since) => since !== null)
    .sort();
  if (since !== undefined)
    return [`${state}, down since `, h(Time, { at: since })];
  const slowest = slowestOf(processes);
  return slowest === null ? state : `${state}, ${milliseconds(slowest)}`;
}

function processesOf({ workers, processes }: Gateway) {
  if (workers === 0) return 'one process';
  return processes.length === workers
    ? `${workers} workers`
    : `${processes.length} of ${workers} workers respond`;
}

function configurationOf({
  configuration: { differs, pendingRestart, lastReload },
}: Gateway) {
  if (differs.length > 0)
    return h(Badge, { tone: 'warn' }, `other ${differs.join(', ')}`);
  if (lastReload && lastReload.problems.length > 0)
    return h(Badge, { tone: 'bad' }, 'last reload refused');
  return pendingRestart.length > 0
    ? h(Badge, { tone: 'warn' }, 'waits for a restart')
    : 'as the others';
}
