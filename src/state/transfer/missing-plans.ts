import type { KeyRecord } from '../../keys/key.ts';
import { windowsOf } from '../../keys/subjects.ts';
import type { Plans } from '../../limits/plans.ts';

/** Names remembered of each sort; a state with more of them is not meant for this configuration at all. */
const MAX_NAMES = 1_000;

/** What keys name and a configuration does not have: their requests would be refused there. */
export class MissingPlans {
  readonly #plans: Plans;
  /** Plans that are not there. */
  readonly plans = new Set<string>();
  /** Accounts without limits of their own whose keys and plans have none either. */
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
