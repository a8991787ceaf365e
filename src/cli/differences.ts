import type { ConfigDiff } from '@storegate/console';
import { type Difference, differencesIn, NO_DIFFERENCE } from '@storegate/console/words';
import { type Row, table } from './table.ts';

const COLUMNS = ['type', 'name', 'in force', 'in the files', 'source', 'restart'] as const;

export function showDifferences(diff: ConfigDiff, colour: boolean): string {
  const differences = differencesIn(diff);
  return differences.length === 0 ? `${NO_DIFFERENCE}\n` : table(COLUMNS, differences.map(rowOf), colour);
}

function rowOf({ type, name, inForce, inFiles, source, restart }: Difference): Row<(typeof COLUMNS)[number]> {
  return { type, name, 'in force': inForce, 'in the files': inFiles, source, restart: restart ? 'needed' : null };
}
