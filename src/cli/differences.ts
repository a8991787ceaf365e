import type { ConfigDiff, ContractDiff } from '@storegate/console';
import { bansThatDiffer, planInWords } from '@storegate/console/words';
import { table } from './table.ts';

/** What differs, in a part for each file, for a person. */
export function showDifferences({ settings, plans, accounts, bans, contract }: ConfigDiff, colour: boolean): string {
  const parts = [
    settings.length > 0 &&
      table(['setting', 'in force', 'in the files', 'source', 'restart'], settings.map(ofSetting), colour),
    plans.length > 0 && table(['plan', 'in force', 'in the files'], plans.map(ofPlan), colour),
    accounts.length > 0 && table(['account', 'in force', 'in the files'], accounts.map(ofAccount), colour),
    bans && table(['bans', 'in force', 'in the files'], bansThatDiffer(bans).map(ofBans), colour),
    contract && ofContract(contract, colour),
  ].filter((part) => typeof part === 'string');
  return parts.length === 0 ? 'The files say what is in force.\n' : parts.join('\n');
}

function ofSetting({ name, inForce, inFiles, source, restart, masked }: ConfigDiff['settings'][number]) {
  const isHidden = masked && inForce === inFiles;
  return {
    setting: name,
    'in force': isHidden ? 'a secret' : inForce,
    'in the files': isHidden ? 'another secret' : inFiles,
    source,
    restart: restart ? 'needed' : null,
  };
}

function ofPlan({ name, inForce, inFiles }: ConfigDiff['plans'][number]) {
  return { plan: name, 'in force': planInWords(inForce), 'in the files': planInWords(inFiles) };
}

function ofAccount({ name, inForce, inFiles }: ConfigDiff['accounts'][number]) {
  return { account: name, 'in force': inForce, 'in the files': inFiles };
}

function ofBans({ name, inForce, inFiles }: ReturnType<typeof bansThatDiffer>[number]) {
  return { bans: name, 'in force': inForce, 'in the files': inFiles };
}

function ofContract({ inForce, inFiles, ...operations }: ContractDiff, colour: boolean): string {
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
