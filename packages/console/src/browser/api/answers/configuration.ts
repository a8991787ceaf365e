import type { PlanAddresses } from '../../plan-addresses.ts';

/** `GET /config`. */
export interface Settings {
  readonly settings: readonly Setting[];
}

export interface Setting {
  readonly name: string;
  /** As it is written, in JSON; secrets are masked. */
  readonly value: string;
  readonly source: string;
  /** Whether a reload cannot change it. */
  readonly restart: boolean;
}

interface DifferentPlan {
  readonly count: string;
  readonly limits: string | null;
  readonly concurrency: number | null;
  readonly weight: number;
  readonly addresses: PlanAddresses | null;
}

/** `GET /config/diff`: how the files differ from what is in force. */
export interface Differences {
  readonly settings: readonly SettingDifference[];
  readonly plans: readonly Different<DifferentPlan>[];
  readonly accounts: readonly Different<string>[];
  readonly bans: Omit<Different<Readonly<Record<string, unknown>>>, 'name'> | null;
  readonly contract: ContractDifference | null;
}

export interface SettingDifference {
  readonly name: string;
  readonly inForce: string;
  readonly inFiles: string;
  readonly source: string;
  readonly restart: boolean;
  readonly masked: boolean;
}

/** `null`: there it is not. */
export interface Different<T> {
  readonly name: string;
  readonly inForce: T | null;
  readonly inFiles: T | null;
}

export interface ContractDifference {
  readonly inForce: ContractSummary;
  readonly inFiles: ContractSummary;
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
}

export interface ContractSummary {
  readonly title: string;
  readonly version: string;
  readonly digest: string;
  readonly operations: number;
}

/** `POST /reload`. */
export interface Reloaded {
  readonly changed: readonly string[];
  readonly needRestart: readonly string[];
}
