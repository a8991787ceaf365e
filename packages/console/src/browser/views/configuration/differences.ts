import { h } from 'preact';
import type { ConfigDiff } from '../../../admin-api.ts';
import { Badge } from '../../parts/notice.ts';
import { Table } from '../../parts/table.ts';
import { type Difference, differencesIn, NO_DIFFERENCE } from '../../sentences/differences.ts';
import { Source } from './source.ts';

export const isSame = (differences: ConfigDiff): boolean => differencesIn(differences).length === 0;

/** All differences in one table. */
export function Different({ differences }: { differences: ConfigDiff }) {
  return h(Table<Difference>, {
    caption: 'Pending changes',
    rows: differencesIn(differences),
    keyOf: ({ type, name }) => `${type} ${name}`,
    empty: NO_DIFFERENCE,
    columns: [
      { title: 'What', cell: ({ type }) => type },
      { title: 'Name', names: true, cell: ({ name }) => h('code', null, name) },
      { title: 'In force', cell: ({ inForce }) => inForce ?? 'missing' },
      { title: 'In the files', cell: ({ inFiles }) => inFiles ?? 'missing' },
      { title: 'From', cell: ({ source }) => (source === undefined ? '–' : h(Source, { source })) },
      {
        title: 'Takes',
        cell: ({ restart }) => (restart ? h(Badge, { tone: 'warn' }, 'a restart') : 'a reload'),
      },
    ],
  });
}
