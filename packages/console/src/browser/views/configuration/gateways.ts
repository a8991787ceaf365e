import { h } from 'preact';
import type { Gateway, Status } from '../../../admin-api.ts';
import { Badge, Missing } from '../../parts/notice.ts';
import { Table } from '../../parts/table.ts';
import { Time } from '../../parts/time.ts';

/** Which gateways decide by another configuration, and what the last reload of each did. */
export function GatewayConfigurations({ status }: { status: Status }) {
  return [
    h(Missing, { ...status }),
    h(Table<Gateway>, {
      caption: 'Configuration of each gateway',
      rows: status.gateways,
      keyOf: ({ gateway }) => gateway,
      empty: 'No gateway responded.',
      toneOf: ({ configuration: { differs } }) => (differs.length > 0 ? 'warn' : undefined),
      columns: [
        { title: 'Gateway', names: true, cell: ({ gateway }) => gateway },
        ...(['settings', 'plans', 'contract'] as const).map((part) => ({
          title: part[0]!.toUpperCase() + part.slice(1),
          cell: ({ configuration }: Gateway) => [
            h('code', null, configuration[part]),
            part === 'contract' &&
              configuration.contract === 'none' && [' ', h(Badge, { tone: 'warn' }, 'requests are not validated')],
            configuration.differs.includes(part) && [' ', h(Badge, { tone: 'warn' }, 'differs')],
          ],
        })),
        {
          title: 'Restart required',
          cell: ({ configuration: { pendingRestart } }) =>
            pendingRestart.length === 0 ? '–' : pendingRestart.join(', '),
        },
        { title: 'Last reload', cell: (gateway) => h('div', { class: 'last-reload' }, lastReloadOf(gateway)) },
      ],
    }),
  ];
}

function lastReloadOf({ configuration: { lastReload } }: Gateway) {
  if (lastReload === null) return 'none since its start';
  const { at, reason, problems } = lastReload;
  const when = [h(Time, { at }), `, ${reason}`];
  if (problems.length === 0) return when;
  return [
    h(Badge, { tone: 'bad' }, 'refused'),
    ' ',
    ...when,
    h(
      'ul',
      null,
      problems.map((problem) => h('li', { key: problem }, problem)),
    ),
  ];
}
