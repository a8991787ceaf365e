import type { Guard } from '../callers/guard.ts';
import { deepFreeze } from '../common/freeze.ts';
import { type Contract, loadContract } from '../contract/contract.ts';
import type { CallsOfDeprecated } from '../keys/uses.ts';
import type { Figures } from '../observe/figures.ts';
import type { ActiveConfig } from '../run/reload.ts';
import type { ServedConfig } from '../run/serving.ts';

/**
 * Settings on their way to a worker. The contract goes as one document: the files it was read from may have changed since,
 * and every worker must have the very same.
 */
export interface SentConfig {
  readonly config: ServedConfig;
  readonly contract: string;
}

/** What a worker needs to begin. */
export interface StartOrder {
  /** From 1. */
  readonly worker: number;
  /** How many share the work, and the limits of the door and the store. */
  readonly workers: number;
  readonly settings: SentConfig;
}

/** What the primary process asks of a worker. `start`, `use` and `drain` are done in their order. */
export type WorkerCalls = {
  /** Opens everything and listens; answers where clients reach it. */
  start: (orders: StartOrder) => string;
  /** From the next request on, these settings hold. */
  use: (settings: SentConfig) => void;
  inFlight: (nothing: null) => number;
  /** Deprecated operations that a key, by its id, called at this worker. */
  deprecated: (keyId: string) => CallsOfDeprecated;
  figures: (nothing: null) => Figures;
  /** Finishes what has begun and lets go of everything. */
  drain: (nothing: null) => LastReport;
};

/** What a worker asks of its primary process. */
export type PrimaryCalls = {
  /** The guard, for an address: one window for all workers. */
  fail: (address: string) => Awaited<ReturnType<Guard['fail']>>;
  look: (address: string) => Awaited<ReturnType<Guard['look']>>;
  /** Deprecated operations that a key, by its id, called at any worker. */
  deprecated: (keyId: string) => CallsOfDeprecated;
  /** Whether requests may be sent to this worker as far as the state is concerned. */
  ready: (isReady: boolean) => void;
  /** The worker was asked to stop by somebody else, and is through. */
  leave: (lastReport: LastReport) => void;
};

/** The last that is heard of a worker. */
export interface LastReport {
  /** Requests that had to be cut off. */
  readonly cutOff: number;
  readonly figures: Figures;
}

/** The admin token stays behind: no request needs it. */
export function packed({ config, contract }: ActiveConfig<ServedConfig>): SentConfig {
  return { config: { ...config, admin: { ...config.admin, token: null } }, contract: contract.json };
}

/** `before`: the contract is compiled again only where it is another one. */
export function unpacked(
  { config, contract: text }: SentConfig,
  before: ActiveConfig<ServedConfig> | null = null,
): ActiveConfig<ServedConfig> {
  const { file, unknownQuery } = config.contract;
  const same = before?.contract.json === text && before.config.contract.unknownQuery === unknownQuery;
  const contract: Contract = same ? before.contract : loadContract(file, { text, unknownQuery });
  return { config: deepFreeze(config), contract };
}
