import type { KeyRecord } from '../../keys/key.ts';
import { windowsOf } from '../../keys/subjects.ts';
import type { Plans } from '../../limits/plans.ts';

/** Maximum names of each kind; a state with more does not belong to this configuration. */
const MAX_NAMES = 1_000;

/** References of keys that the configuration lacks: requests with these keys would be refused. */
export class MissingPlans {
  readonly #plans: Plans;
  readonly plans = new Set<string>();
  /** Accounts without limits whose keys and plans have none either. */
  readonly accounts = new Set<string>();

  constructor(plans: Plans) {
    this.#plans = plans;
  }

  note(key: KeyRecord): void {
    if (key.revokedAt !== null) return;
    const [names, name] = this.#plans.plans.has(key.plan) ? [this.accounts, key.account] : [this.plans, key.plan];
    if (names === this.accounts && windowsOf(key, this.#plans) !== null) return;
    if (names.size < MAX_NAMES) names.add(name);
  }
}
