import { h } from 'preact';
import type { Gateway, Status } from '../../../admin-api.ts';
import { Badge, Missing } from '../../parts/notice.ts';
import { Table } from '../../parts/table.ts';
import { Time } from '../../parts/time.ts';

/** Which gateways decide by another configuration, and what the last reload of each did. */
export function GatewayConfigurations({ status }: { status: Status }) {
  return [
    h(Missing, { key: 'missing', ...status }),
    h(Table<Gateway>, {
      key: 'gateways',
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
            h('code', { key: 'digest' }, configuration[part]),
            part === 'contract' &&
              configuration.contract === 'none' && [
                ' ',
                h(Badge, { key: 'none', tone: 'warn' }, 'requests are not validated'),
              ],
            configuration.differs.includes(part) && [' ', h(Badge, { key: 'differs', tone: 'warn' }, 'differs')],
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
  const when = [h(Time, { key: 'at', at }), `, ${reason}`];
  if (problems.length === 0) return when;
  return [
    h(Badge, { key: 'refused', tone: 'bad' }, 'refused'),
    ' ',
    ...when,
    h(
      'ul',
      { key: 'problems' },
      problems.map((problem) => h('li', { key: problem }, problem)),
    ),
  ];
}
