import type { BanEscalation, Window } from './limits.ts';

/** All plans of a gateway, the bans that go with them, and the limits that accounts have of their own. */
export interface Plans {
  readonly plans: ReadonlyMap<string, Plan>;
  readonly ladder: BanEscalation | null;
  /** Own limits of accounts, by account name; they replace the plan's windows. */
  readonly accounts: ReadonlyMap<string, readonly Window[]>;
  /** Own bounds of accounts for requests in flight, by account name; they replace the plan's. Absent: none has one. */
  readonly concurrencies?: ReadonlyMap<string, number>;
  /** Windows of the contract in force, which hold for every client beside its own ones. Absent: it has none. */
  readonly scoped?: readonly Window[];
}

/** A named set of limits. */
export interface Plan {
  readonly name: string;
  /** Whether each key counts by itself, or all keys of an account together. */
  readonly count: 'key' | 'account';
  /** `null` for a custom plan: each key or account has its own limits, and a key without limits is not usable. */
  readonly windows: readonly Window[] | null;
  /** Requests of one subject that may be in flight at once; absent: any number. */
  readonly concurrency?: number;
  /** The plan's part of a busy store, beside the weights of the others; absent: `DEFAULT_WEIGHT`. */
  readonly weight?: number;
  /** Where its keys may be used from, in blocks and addresses; absent: anywhere. */
  readonly addresses?: PlanAddresses;
}

/** From nowhere in `deny`, and where `allow` has entries, only from there. */
export interface PlanAddresses {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
}

export const DEFAULT_WEIGHT = 1;
