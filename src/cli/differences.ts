import { addressesInWords, type PlanAddresses } from '@storegate/console/words';
import { table } from './table.ts';

/** The answer of `GET /config/diff`. */
export interface Differences {
  readonly settings: readonly SettingDifference[];
  readonly plans: readonly Different<PlanLimits>[];
  readonly accounts: readonly Different<string>[];
  readonly bans: { readonly inForce: Ladder | null; readonly inFiles: Ladder | null } | null;
  readonly contract: ContractDifference | null;
}

interface SettingDifference {
  readonly name: string;
  readonly inForce: string;
  readonly inFiles: string;
  readonly source: string;
  readonly restart: boolean;
  readonly masked: boolean;
}

/** `null`: there it is not. */
interface Different<T> {
  readonly name: string;
  readonly inForce: T | null;
  readonly inFiles: T | null;
}

interface PlanLimits {
  readonly count: string;
  readonly limits: string | null;
  readonly concurrency: number | null;
  readonly weight: number;
  readonly addresses: PlanAddresses | null;
}

type Ladder = Readonly<Record<string, unknown>>;

interface ContractDifference {
  readonly inForce: ContractSummary;
  readonly inFiles: ContractSummary;
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
}

interface ContractSummary {
  readonly title: string;
  readonly version: string;
  readonly digest: string;
  readonly operations: number;
}

/** What differs, in a part for each file, for a person. */
export function showDifferences(answer: unknown, colour: boolean): string {
  const { settings, plans, accounts, bans, contract } = answer as Differences;
  const parts = [
    settings.length > 0 &&
      table(['setting', 'in force', 'in the files', 'source', 'restart'], settings.map(ofSetting), colour),
    plans.length > 0 && table(['plan', 'in force', 'in the files'], plans.map(ofPlan), colour),
    accounts.length > 0 && table(['account', 'in force', 'in the files'], accounts.map(ofAccount), colour),
    bans && table(['bans', 'in force', 'in the files'], ofBans(bans), colour),
    contract && ofContract(contract, colour),
  ].filter((part) => typeof part === 'string');
  return parts.length === 0 ? 'The files say what is in force.\n' : parts.join('\n');
}

function ofSetting({ name, inForce, inFiles, source, restart, masked }: SettingDifference) {
  const isHidden = masked && inForce === inFiles;
  return {
    setting: name,
    'in force': isHidden ? 'a secret' : inForce,
    'in the files': isHidden ? 'another secret' : inFiles,
    source,
    restart: restart ? 'needed' : null,
  };
}

function ofPlan({ name, inForce, inFiles }: Different<PlanLimits>) {
  return { plan: name, 'in force': planInWords(inForce), 'in the files': planInWords(inFiles) };
}

function planInWords(plan: PlanLimits | null): string | null {
  if (plan === null) return null;
  const inFlight = plan.concurrency === null ? '' : `, ${plan.concurrency} in flight`;
  const weight = plan.weight === 1 ? '' : `, weight ${plan.weight}`;
  const from = plan.addresses === null ? '' : `, ${addressesInWords(plan.addresses)}`;
  return `${plan.limits ?? 'custom'}${inFlight}${plan.count === 'key' ? '' : ` for each ${plan.count}`}${weight}${from}`;
}

function ofAccount({ name, inForce, inFiles }: Different<string>) {
  return { account: name, 'in force': inForce, 'in the files': inFiles };
}

function ofBans({ inForce, inFiles }: NonNullable<Differences['bans']>) {
  const words = (value: unknown) => (Array.isArray(value) ? value.join(', ') : ((value as string | undefined) ?? null));
  return Object.keys({ ...inForce, ...inFiles })
    .map((name) => ({ bans: name, 'in force': words(inForce?.[name]), 'in the files': words(inFiles?.[name]) }))
    .filter((row) => row['in force'] !== row['in the files']);
}

function ofContract({ inForce, inFiles, ...operations }: ContractDifference, colour: boolean): string {
  const summaries = [
    { contract: 'in force', ...inForce },
    { contract: 'in the files', ...inFiles },
  ];
  const ids = Object.entries(operations).flatMap(([is, ids]) => ids.map((operation) => ({ operation, is })));
  return [
    table(['contract', 'title', 'version', 'digest', 'operations'], summaries, colour),
    ...(ids.length === 0 ? [] : [table(['operation', 'is'], ids, colour)]),
  ].join('\n');
}
