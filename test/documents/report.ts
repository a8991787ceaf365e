import type { Examined } from './examine.ts';
import { REASONS, type ReasonName } from './reasons.ts';

/** Prints the counts of what was examined. */
export function report(all: readonly Examined[]): void {
  const refused = all.filter(({ document }) => document.refused !== undefined);
  table(
    'version',
    Map.groupBy(all, ({ document }) => document.openapi.slice(0, 3)),
  );
  table(
    'made by',
    Map.groupBy(all, ({ document }) => document.made ?? 'not known'),
  );
  const reasons = new Map<ReasonName, Examined[]>();
  for (const one of refused)
    for (const name of Object.keys(one.document.refused!) as ReasonName[])
      reasons.set(name, [...(reasons.get(name) ?? []), one]);
  console.log('\nrefused for (a document may have several)');
  for (const [name, some] of byCount(reasons))
    console.log(`${String(some.length).padStart(6)}  ${name} (${REASONS[name].kind})`);
  console.log('\n CPU s    MiB  the slowest');
  for (const { name, outcome } of all.toSorted(bySeconds).slice(0, 5)) {
    const seconds = outcome.cpuSeconds.toFixed(1).padStart(6);
    console.log(`${seconds} ${String(outcome.memory).padStart(6)}  ${name}`);
  }
  const judgements = all.flatMap(({ outcome }) => outcome.judgement ?? []);
  const sum = (of: 'requests' | 'bodies') => judgements.reduce((total, one) => total + one[of], 0);
  console.log(`\n${sum('requests')} requests and ${sum('bodies')} bodies judged beside ajv`);
  const examples = all.flatMap(({ outcome }) => outcome.examples ?? []);
  const count = (of: 'made' | 'valid') => examples.reduce((total, one) => total + one[of], 0);
  console.log(`${count('valid')} of ${count('made')} examples of the reference are valid`);
}

const bySeconds = (a: Examined, b: Examined) => b.outcome.cpuSeconds - a.outcome.cpuSeconds;

const byCount = <Key>(groups: ReadonlyMap<Key, readonly Examined[]>) =>
  [...groups].sort(([, a], [, b]) => b.length - a.length);

function table(title: string, groups: ReadonlyMap<string, readonly Examined[]>): void {
  console.log(`\n loads refused  ${title}`);
  for (const [name, some] of byCount(groups)) {
    const refused = some.filter(({ document }) => document.refused !== undefined).length;
    const loads = String(some.length - refused).padStart(6);
    console.log(`${loads} ${String(refused).padStart(7)}  ${name}`);
  }
}
