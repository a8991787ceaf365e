import type { Plans } from '../../limits/plans.ts';
import type { KeyRecord } from '../../records/keys/key.ts';
import { windowsOf } from '../../records/keys/subjects.ts';
import { shortList } from '../output.ts';
import type { Terminal } from '../terminal.ts';

/** Maximum missing names of each kind; a state with more does not belong to this configuration. */
const MAX_MISSING = 1_000;
const MAX_NAMES = 20;

/** References of keys that the configuration lacks: requests with these keys would be refused. */
export function missingPlans(plans: Plans) {
  const names = new Set<string>();
  /** Accounts without limits whose keys and plans have none either. */
  const accounts = new Set<string>();
  return {
    note(key: KeyRecord): void {
      if (key.revokedAt !== null) return;
      if (!plans.plans.has(key.plan)) add(names, key.plan);
      else if (windowsOf(key, plans) === null) add(accounts, key.account);
    },
    warn({ err }: Terminal): void {
      for (const [missing, what] of [
        [names, 'Keys use plans that are not in plans.yaml'],
        [accounts, 'Accounts of custom plans lack limits in plans.yaml'],
      ] as const)
        if (missing.size > 0)
          err(
            `${what}: ${shortList([...missing], MAX_NAMES)}. Their requests are refused.\n`,
          );
    },
  };
}

function add(names: Set<string>, name: string): void {
  if (names.size < MAX_MISSING) names.add(name);
}
