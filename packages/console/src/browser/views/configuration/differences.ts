import { h } from 'preact';
import type { ContractDifference, Differences } from '../../api/answers/configuration.ts';
import { Badge } from '../../parts/notice.ts';
import { Table } from '../../parts/table.ts';
import { addressesInWords } from '../../plan-addresses.ts';
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

export const isSame = (differences: Differences): boolean => rowsOf(differences).length === 0;

/** All that differs, in one table. */
export function Different({ differences }: { differences: Differences }) {
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

function rowsOf({ settings, plans, accounts, bans, contract }: Differences): Row[] {
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
    ...(bans ? ladderRows(bans) : []),
    ...(contract ? contractRows(contract) : []),
  ];
}

/** Two secrets may look alike. */
function secretIn({ inForce, inFiles }: Pick<Row, 'inForce' | 'inFiles'>) {
  return inForce === inFiles ? { inForce: 'a secret', inFiles: 'another secret' } : {};
}

function planInWords(plan: Differences['plans'][number]['inForce']): string | null {
  if (plan === null) return null;
  const inFlight = plan.concurrency === null ? '' : `, ${plan.concurrency} in flight`;
  const weight = plan.weight === 1 ? '' : `, weight ${plan.weight}`;
  const from = plan.addresses === null ? '' : `, ${addressesInWords(plan.addresses)}`;
  return `${plan.limits ?? 'custom'}${inFlight}${plan.count === 'key' ? '' : ` for each ${plan.count}`}${weight}${from}`;
}

function ladderRows({ inForce, inFiles }: NonNullable<Differences['bans']>): Row[] {
  const words = (value: unknown) => (Array.isArray(value) ? value.join(', ') : ((value as string | undefined) ?? null));
  return Object.keys({ ...inForce, ...inFiles })
    .map((name) => ({ part: 'bans', name, inForce: words(inForce?.[name]), inFiles: words(inFiles?.[name]) }))
    .filter((row) => row.inForce !== row.inFiles);
}

function contractRows({ inForce, inFiles, added, removed, changed }: ContractDifference): Row[] {
  const summary = ({ title, version, digest, operations }: ContractDifference['inForce']) =>
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
