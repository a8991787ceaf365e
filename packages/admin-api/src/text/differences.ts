import type {
  BanEscalation,
  BansDiff,
  ConfigDiff,
  ContractDiff,
  ContractSummary,
} from '../generated/types.ts';
import { plural } from './format.ts';
import { limitsText } from './limits.ts';
import { planText } from './plans.ts';

// How the files differ from the running configuration, for the console and the command line.

export const NO_DIFFERENCE = 'The files match the running configuration.';

/** One difference; `null`: missing on this side. */
export interface Difference {
  readonly type: string;
  readonly name: string;
  readonly inForce: string | null;
  readonly inFiles: string | null;
  readonly source?: string;
  readonly restart?: boolean;
}

export function differencesIn({
  settings,
  plans,
  accounts,
  bans,
  contract,
}: ConfigDiff): Difference[] {
  return [
    ...settings.map(({ masked, ...setting }) => ({
      type: 'setting',
      ...setting,
      // Two masked secrets look alike.
      ...(masked && setting.inForce === setting.inFiles
        ? { inForce: 'a secret', inFiles: 'another secret' }
        : {}),
    })),
    ...plans.map(({ name, inForce, inFiles }) => ({
      type: 'plan',
      name,
      inForce: planText(inForce),
      inFiles: planText(inFiles),
    })),
    ...accounts.map(({ name, inForce, inFiles }) => ({
      type: 'account limits',
      name,
      inForce: inForce && limitsText(inForce),
      inFiles: inFiles && limitsText(inFiles),
    })),
    ...(bans ? banDifferences(bans) : []),
    ...(contract ? contractDifferences(contract) : []),
  ];
}

function banDifferences({ inForce, inFiles }: BansDiff): Difference[] {
  const text = (escalation: BanEscalation | null, name: string) => {
    const value: unknown = Object(escalation)[name];
    return value === undefined
      ? null
      : Array.isArray(value)
        ? value.join(', ')
        : String(value);
  };
  return Object.keys({ ...inForce, ...inFiles })
    .map((name) => ({
      type: 'bans',
      name,
      inForce: text(inForce, name),
      inFiles: text(inFiles, name),
    }))
    .filter((row) => row.inForce !== row.inFiles);
}

function contractDifferences({
  inForce,
  inFiles,
  added,
  removed,
  changed,
}: ContractDiff): Difference[] {
  const summary = ({ title, version, digest, operations }: ContractSummary) =>
    `${title} ${version}, ${plural(operations, 'operation')}, ${digest}`;
  const operation = (
    name: string,
    before: string | null,
    after: string | null,
  ) => {
    return { type: 'operation', name, inForce: before, inFiles: after };
  };
  return [
    {
      type: 'contract',
      name: inFiles.title,
      inForce: summary(inForce),
      inFiles: summary(inFiles),
    },
    ...added.map((id) => operation(id, null, 'present')),
    ...removed.map((id) => operation(id, 'present', null)),
    ...changed.map((id) => operation(id, 'present', 'changed')),
  ];
}
