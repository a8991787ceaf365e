import type { BanEscalation, Window } from './limits.ts';

/** All plans, their bans, and the limits of accounts. */
export interface Plans {
  readonly plans: ReadonlyMap<string, Plan>;
  readonly escalation: BanEscalation | null;
  /**
   * Limits of client addresses that send requests without a key; `null` or absent: every request
   * needs a key.
   */
  readonly publicPlan?: Plan | null;
  /** Limits by account name; they replace the plan's windows. */
  readonly accounts: ReadonlyMap<string, readonly Window[]>;
  /** Concurrency limits by account name; they replace the plan's. Absent if no account has one. */
  readonly concurrencies?: ReadonlyMap<string, number>;
  /**
   * Windows of the contract; they apply to every client in addition to its own. Absent if it has
   * none.
   */
  readonly scoped?: readonly Window[];
  /** Names of the APIs; absent if one is alone. */
  readonly apis?: readonly string[];
}

/** Why a name is not that of an API; `null`: it is. */
export function apiFault(
  name: string,
  { apis = [] }: Pick<Plans, 'apis'>,
): string | null {
  if (apis.includes(name)) return null;
  return apis.length === 0
    ? 'must be absent, because gateway.yaml has one API alone'
    : `must be the name of an API: ${apis.join(', ')}`;
}

export interface Plan {
  readonly name: string;
  /** Whether keys count separately or per account. */
  readonly count: 'key' | 'account';
  /**
   * `null` for a custom plan: each key or account has its own limits, and a key without limits is
   * unusable.
   */
  readonly windows: readonly Window[] | null;
  /** Most concurrent requests of one subject; absent for unlimited. */
  readonly concurrency?: number;
  /** Weight of the plan at a busy backend; absent for `DEFAULT_WEIGHT`. */
  readonly weight?: number;
  /**
   * Clients that may share a key, whatever the limits: as many refusals per wait are not strikes.
   * Absent: see `BanEscalation.workers`.
   */
  readonly workers?: number;
  /** Addresses and blocks that its keys may be used from; absent for anywhere. */
  readonly addresses?: PlanAddresses;
}

/** Never from `deny`; if `allow` has entries, only from those. */
export interface PlanAddresses {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
}

/** `null`: keys of the plan are never banned. */
export function escalationIn(
  plan: Pick<Plan, 'workers'> | undefined,
  { escalation }: Pick<Plans, 'escalation'>,
): BanEscalation | null {
  if (escalation === null || plan?.workers === undefined) return escalation;
  return { ...escalation, ...exactly(plan.workers) };
}

/** The same number of free refusals for all limits. */
export function exactly(
  workers: number,
): Pick<BanEscalation, 'workers' | 'minWorkers'> {
  return { workers, minWorkers: workers };
}

/** No plan for keys has this name. */
export const PUBLIC_PLAN = 'public';

export const DEFAULT_WEIGHT = 1;
