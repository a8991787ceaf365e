import { h } from 'preact';
import type { ConfigDiff, ContractDiff } from '../../../admin-api.ts';
import { Badge } from '../../parts/notice.ts';
import { Table } from '../../parts/table.ts';
import { bansThatDiffer, planInWords } from '../../plan-words.ts';
import { plural } from '../../words.ts';
import { Source } from './source.ts';

/** One thing that differs, in words; `null`: there it is not. */
interface Row {
  readonly part: string;
  readonly name: string;
  readonly inForce: string | null;
  readonly inFiles: string | null;
  readonly source?: string;
  readonly restart?: boolean;
}

export const isSame = (differences: ConfigDiff): boolean => rowsOf(differences).length === 0;

/** All that differs, in one table. */
export function Different({ differences }: { differences: ConfigDiff }) {
  return h(Table<Row>, {
    caption: 'What the files say that is not in force',
    rows: rowsOf(differences),
    keyOf: ({ part, name }) => `${part} ${name}`,
    empty: 'The files say what is in force.',
    columns: [
      { title: 'What', cell: ({ part }) => part },
      { title: 'Name', names: true, cell: ({ name }) => h('code', null, name) },
      { title: 'In force', cell: ({ inForce }) => inForce ?? 'not there' },
      { title: 'In the files', cell: ({ inFiles }) => inFiles ?? 'not there' },
      { title: 'From', cell: ({ source }) => (source === undefined ? '–' : h(Source, { source })) },
      {
        title: 'Takes',
        cell: ({ restart }) => (restart ? h(Badge, { tone: 'warn' }, 'a restart') : 'a reload'),
      },
    ],
  });
}

function rowsOf({ settings, plans, accounts, bans, contract }: ConfigDiff): Row[] {
  return [
    ...settings.map(({ masked, ...setting }) => ({
      part: 'setting',
      ...setting,
      ...(masked ? secretIn(setting) : {}),
    })),
    ...plans.map(({ name, inForce, inFiles }) => ({
      part: 'plan',
      name,
      inForce: planInWords(inForce),
      inFiles: planInWords(inFiles),
    })),
    ...accounts.map((account) => ({ part: 'limits of an account', ...account })),
    ...(bans ? bansThatDiffer(bans).map((row) => ({ part: 'bans', ...row })) : []),
    ...(contract ? contractRows(contract) : []),
  ];
}

/** Two secrets may look alike. */
function secretIn({ inForce, inFiles }: Pick<Row, 'inForce' | 'inFiles'>) {
  return inForce === inFiles ? { inForce: 'a secret', inFiles: 'another secret' } : {};
}

function contractRows({ inForce, inFiles, added, removed, changed }: ContractDiff): Row[] {
  const summary = ({ title, version, digest, operations }: ContractDiff['inForce']) =>
    `${title} ${version}, ${plural(operations, 'operation')}, ${digest}`;
  const row = (name: string, before: string | null, after: string | null): Row => {
    return { part: 'operation', name, inForce: before, inFiles: after };
  };
  return [
    { part: 'contract', name: inFiles.title, inForce: summary(inForce), inFiles: summary(inFiles) },
    ...added.map((id) => row(id, null, 'new')),
    ...removed.map((id) => row(id, 'as it is', null)),
    ...changed.map((id) => row(id, 'as it is', 'another one')),
  ];
}
