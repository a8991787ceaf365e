import { isSameReading } from '@storegate/openapi';
import type { Guard } from '../../callers/guard.ts';
import { deepFreeze } from '../../common/freeze.ts';
import type { Certificates } from '../../config/certificates.ts';
import type { ServedConfig } from '../../config/config.ts';
import type { DrainOptions } from '../../gateway/wire/listener.ts';
import type { CallsOfDeprecated } from '../../keys/uses.ts';
import type { Figures } from '../../observe/aggregate.ts';
import type { ProcessReadiness } from '../../observe/peers/readiness.ts';
import type { Detection } from '../../webhooks/detector.ts';
import { hasReceivers } from '../../webhooks/endpoints.ts';
import { type Loaded, loadedOf } from '../contracts/loader.ts';
import type { Prepared } from '../contracts/read.ts';
import type { ActiveConfig } from '../reload.ts';

/**
 * Settings sent to a worker, with the contract as the primary process has read it: its files may have changed since, every worker
 * must have the same, and no request may wait until it is read.
 */
export interface SentConfig {
  readonly config: ServedConfig;
  /** With private keys: the channel between the processes is a pair of sockets that nobody else has. */
  readonly certificates: Certificates;
  readonly prepared: Prepared;
}

/** What a worker needs to start. */
export interface StartOrder {
  /** From 1. */
  readonly worker: number;
  /** Number of workers, which share the work and the limits of the door and the store. */
  readonly workers: number;
  readonly settings: SentConfig;
  /** For tickets of sessions of TLS: what one worker began, each can resume. */
  readonly ticketSecret: Uint8Array;
}

/** Calls from the primary process to a worker. The worker runs `start`, `use` and `drain` in the order of the calls. */
export type WorkerCalls = {
  /** Opens everything and listens; returns the URL for clients. */
  start: (order: StartOrder) => string;
  /** Puts these settings in force from the next request on. */
  use: (settings: SentConfig) => void;
  inFlight: (nothing: null) => number;
  /** Deprecated operations that a key called at this worker. */
  deprecated: (keyId: string) => CallsOfDeprecated;
  figures: (nothing: null) => Figures;
  /** Its part of the answer to one of the questions in observe/peers. */
  ask: (asked: { readonly question: string; readonly argument: unknown }) => unknown;
  /** Finishes the requests in flight and closes everything. */
  drain: (options: DrainOptions) => LastReport;
};

/** Calls from a worker to its primary process. */
export type PrimaryCalls = {
  /** The guard for an address, with one window for all workers. */
  fail: (address: string) => Awaited<ReturnType<Guard['fail']>>;
  look: (address: string) => Awaited<ReturnType<Guard['look']>>;
  /** Deprecated operations that a key called at any worker. */
  deprecated: (keyId: string) => CallsOfDeprecated;
  /** A minute has ended, and this is what happened in it at this worker: packed as in observe/history. */
  minute: (minute: Uint8Array) => void;
  /** What receivers of webhooks are to hear of. */
  webhook: (heard: Detection) => void;
  /** Whether this worker could answer requests now. */
  able: (ability: ProcessReadiness) => void;
  /** The worker got a SIGTERM and wants to be told to drain. */
  leave: (nothing: null) => void;
  /** Closes the socket from which all workers get their connections. */
  closeShared: (nothing: null) => void;
};

/** What a worker reports at its end. */
export interface LastReport {
  /** Requests that had to be cut off. */
  readonly cutOff: number;
  readonly figures: Figures;
}

/** Leaves out secrets of operators and the keys of their listener, which no request needs. Of webhooks a worker learns that there are any. */
export function packed({
  config,
  certificates,
  prepared,
}: Pick<ActiveConfig<ServedConfig>, 'config' | 'certificates' | 'prepared'>): SentConfig {
  const { webhooks } = config;
  const kept = hasReceivers(webhooks) ? [{ url: 'https://primary.invalid', events: [] }] : [];
  const told = { ...webhooks, url: null, secret: null, previousSecret: null, endpoints: kept };
  const { admin } = certificates;
  const known = admin && { ...admin, pairs: admin.pairs.map((pair) => ({ ...pair, key: '' })) };
  return {
    config: { ...config, admin: { ...config.admin, token: null }, webhooks: told },
    certificates: { ...certificates, admin: known },
    prepared,
  };
}

/** Keeps the contract of `before`, and what is compiled of it, if it is the same. */
export function unpacked(
  { config, certificates, prepared }: SentConfig,
  before: ActiveConfig<ServedConfig> | null = null,
): ActiveConfig<ServedConfig> {
  const same =
    before?.contract.fingerprint === prepared.contract.fingerprint &&
    isSameReading(before.prepared.contract.reading, prepared.contract.reading);
  return { config: deepFreeze(config), certificates, ...(same ? loadedIn(before) : loadedOf(prepared)) };
}

const loadedIn = ({ contract, prepared }: ActiveConfig<ServedConfig>): Loaded => ({ contract, prepared });
