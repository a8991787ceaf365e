import type { Assessment } from './assessment.ts';
import type { Json } from './document/source.ts';
import { byPlace } from './findings.ts';
import type { Description } from './operations.ts';
import type { Treatment } from './options.ts';
import { formatProblem, type Problem } from './problems.ts';
import type { Exempted } from './types.ts';

interface Triage<Described> {
  readonly refused: readonly Problem[];
  readonly tolerated: readonly Problem[];
  readonly exempted: readonly Exempted[];
  readonly operations: readonly Described[];
}

/** An operation that requests cannot match is omitted. */
export function treat<Described extends Description>(
  described: readonly (readonly [Described, Json])[],
  judged: Assessment,
  onUnsupported: 'refuse' | Treatment,
  canMatch: (operation: Described) => boolean,
): Triage<Described> {
  if (onUnsupported === 'refuse') {
    const all = [...judged.fatal, ...judged.document, ...[...judged.operations.values()].flat()];
    const operations = described.map(([operation]) => operation);
    return { refused: [...new Set(all)].sort(byPlace), tolerated: [], exempted: [], operations };
  }
  const exempted: Exempted[] = [];
  const operations = described.map(([operation, node]) => {
    const problems = judged.operations.get(node);
    if (problems === undefined) return operation;
    const treatment = canMatch(operation) ? onUnsupported : 'omit';
    const { id, method, path } = operation;
    exempted.push(Object.freeze({ id, method, path, treatment, problems }));
    return exempt(operation, treatment);
  });
  return {
    refused: judged.fatal,
    tolerated: judged.document,
    exempted,
    operations: operations.filter((operation) => operation !== null),
  };
}

function exempt<Described extends Description>(operation: Described, treatment: Treatment): Described | null {
  if (treatment === 'omit') return null;
  return { ...operation, exempt: treatment, ...(treatment === 'report' && { reportOnly: true }) };
}

const TREATED: Readonly<Record<Treatment, string>> = {
  omit: 'left out',
  report: 'only reports',
  pass: 'passes unchecked',
};

export function formatExempted(exempted: readonly Exempted[]): string[] {
  return exempted.map(({ id, method, path, treatment, problems }) => {
    const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
    return `${id} (${method} ${path}) ${TREATED[treatment]}: ${formatProblem(problems[0]!)}${more}`;
  });
}
