import { isSameReading } from '@storegate/openapi';
import { deepFreeze } from '../../common/freeze.ts';
import { prefixOf } from '../../config/apis.ts';
import type { Certificates } from '../../config/certificates.ts';
import {
  largestBody,
  MIN_BODY_BUDGET,
  type ServedConfig,
} from '../../config/config.ts';
import { mostPerAddress } from '../../gateway/wire/connection-levels.ts';
import type { DrainOptions } from '../../gateway/wire/listener.ts';
import type { Figures } from '../../observe/exposition.ts';
import type { Peers } from '../../observe/peers/peers.ts';
import type { ProcessReadiness } from '../../observe/peers/status.ts';
import type { BansAsOf } from '../../state/state.ts';
import type { Detection } from '../../webhooks/detector.ts';
import { hasEndpoints } from '../../webhooks/endpoints.ts';
import { contractsOf, loadAll } from '../apis.ts';
import { loadedOf } from '../contracts/loader.ts';
import type { Prepared } from '../contracts/read.ts';
import type { ActiveConfig } from '../reload.ts';
import type { WaitingUsage } from './usage.ts';

/**
 * With the contract, because its files may have changed since, and all workers must have the same.
 */
export interface SentConfig {
  readonly config: ServedConfig;
  /** With private keys: the channel is a private pair of sockets. */
  readonly certificates: Certificates;
  /** Of each API. */
  readonly prepared: readonly Prepared[];
}

export interface StartOrder {
  readonly worker: number;
  readonly workers: number;
  readonly settings: SentConfig;
  /** The public socket in the primary process, if it inherited one. */
  readonly fd: number | undefined;
  /** Each worker can resume the sessions of others. */
  readonly ticketSecret: Uint8Array;
}

interface Question {
  readonly question: string;
  readonly argument: unknown;
}

/**
 * The worker runs `start`, `use` and `drain` in order. It responds to every query that a gateway of
 * one process does.
 */
export type WorkerCalls = {
  start: (order: StartOrder) => string;
  use: (settings: SentConfig) => void;
  figures: (nothing: null) => Figures;
  usage: (nothing: null) => WaitingUsage | null;
  bans: (nothing: null) => BansAsOf | null;
  ask: (request: Question) => unknown;
  drain: (options: DrainOptions) => LastReport;
};

export type PrimaryCalls = {
  /** All workers respond. */
  ask: (request: Question) => Awaited<ReturnType<Peers['ask']>>;
  webhook: (received: Detection) => void;
  readiness: (readiness: ProcessReadiness) => void;
  /** After a SIGTERM: requests the order to drain. */
  leave: (nothing: null) => void;
  closeShared: (nothing: null) => void;
};

export interface LastReport {
  readonly cutOff: number;
  readonly figures: Figures;
}

/** What one of the workers may use. */
export function shareOf(config: ServedConfig, workers: number): ServedConfig {
  const part = (whole: number) => Math.ceil(whole / workers);
  return {
    ...config,
    upstream: {
      ...config.upstream,
      connections: part(config.upstream.connections),
    },
    upstreams: Object.fromEntries(
      Object.entries(config.upstreams).map(([name, one]) => [
        name,
        { ...one, connections: part(one.connections) },
      ]),
    ),
    http: {
      ...config.http,
      maxConnections: part(config.http.maxConnections),
      maxConnectionsPerAddress: part(mostPerAddress(config.http)),
      bodyBudget: Math.max(
        part(config.http.bodyBudget),
        MIN_BODY_BUDGET * Math.max(...config.apis.map(largestBody)),
      ),
    },
  };
}

/**
 * Omits the secrets of operators and the keys of their listener, which no request needs. A worker
 * posts usage, which it signs as the primary process signs webhooks.
 */
export function packed({
  config,
  certificates,
  prepared,
}: SentConfig): SentConfig {
  const { webhooks, usage } = config;
  const kept = hasEndpoints(webhooks)
    ? [{ url: 'https://primary.invalid', events: [] }]
    : [];
  const sent = {
    ...webhooks,
    url: null,
    ...(usage.export.url === null && { secret: null, previousSecret: null }),
    endpoints: kept,
  };
  const { admin } = certificates;
  const withoutKeys = admin && {
    ...admin,
    pairs: admin.pairs.map((pair) => ({ ...pair, key: '' })),
  };
  return {
    config: {
      ...config,
      admin: { ...config.admin, token: null },
      webhooks: sent,
    },
    certificates: { ...certificates, admin: withoutKeys },
    prepared,
  };
}

/** Reuses contracts of `before` that are the same. */
export async function unpacked(
  { config, certificates, prepared }: SentConfig,
  before: ActiveConfig<ServedConfig> | null = null,
): Promise<ActiveConfig<ServedConfig>> {
  const { apis } = await loadAll(config.apis, async (api) => {
    const sent = prepared[config.apis.indexOf(api)]!;
    const old = before?.apis.find((one) => one.api.name === api.name);
    const isSame =
      old?.contract.fingerprint === sent.contract.fingerprint &&
      isSameReading(old.prepared.contract.reading, sent.contract.reading);
    return isSame
      ? { contract: old.contract, prepared: sent }
      : await loadedOf(sent, prefixOf(api));
  });
  return {
    config: deepFreeze(config),
    certificates,
    apis,
    contract: contractsOf(apis),
  };
}
