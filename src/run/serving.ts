import { AddressSubjects } from '../callers/address-subjects.ts';
import type { Guard } from '../callers/guard.ts';
import { SharedBudget } from '../common/shared-budget.ts';
import type { ServedConfig } from '../config/config.ts';
import type { Contract } from '../config/contract/contract.ts';
import { createUnparsedAnswers } from '../gateway/reply/unparsed.ts';
import { Flights } from '../gateway/stages/in-flight.ts';
import { LargeChecks } from '../gateway/stages/large-checks.ts';
import { Upstreams } from '../gateway/upstream/stores.ts';
import { Bodies, type BodiesSettings } from '../gateway/wire/bodies.ts';
import { ConnectionLimits } from '../gateway/wire/connection-limits.ts';
import { createListener, type DrainOptions, type ListenOptions } from '../gateway/wire/listener.ts';
import { Keyring } from '../keys/keyring.ts';
import { type DeprecatedCalls, LastUseTracker } from '../keys/last-use-tracker.ts';
import type { Plans } from '../limits/plans.ts';
import type { Observe } from '../observe/events.ts';
import type { StoreConnections, StoreStatus } from '../observe/peers/status.ts';
import { sumOfConnections } from '../observe/peers/stores.ts';
import type { Tracing } from '../observe/tracing/tracing.ts';
import { BanRecorder } from '../state/ban-recorder.ts';
import type { Storage } from '../state/storage.ts';
import { buildPipeline, hasReference, type LongLivedParts } from './build.ts';
import type { ActiveConfig } from './reload.ts';
import { urlOf } from './url.ts';

/** Milliseconds. */
const PREPARE_TIMEOUT = 5_000;

export interface ServingParts {
  readonly settings: ActiveConfig<ServedConfig>;
  readonly storage: Storage;
  readonly guard: Guard;
  readonly observe: Observe;
  readonly clock: () => number;
  /** Closed by its owner. */
  readonly tracing: Tracing | null;
  /** The same in all processes of a gateway. */
  readonly ticketSecret: Uint8Array;
  readonly reportsFirstUses: boolean;
  /** In all processes of this gateway. If it fails, only the local calls count. */
  readonly deprecatedAtAll?: (keyId: string) => Promise<DeprecatedCalls>;
}

export interface Serving {
  readonly inFlight: number;
  readonly bodies: Pick<Bodies, 'held' | 'budget'>;
  readonly store: StoreConnections;
  readonly stores: readonly StoreStatus[];
  /** `matters`: the gateway is unready. */
  readonly down: readonly { readonly upstream: string; readonly matters: boolean }[];
  readonly knowsKeys: boolean;
  readonly whenKeysKnown: Promise<void>;
  readonly uses: LastUseTracker;
  /** Called again, it keeps the port. Rejects with ListenError. */
  listen(options?: ListenOptions): Promise<string>;
  /** Without delaying requests. */
  prepare(contract: Contract): Promise<void>;
  use(settings: ActiveConfig<ServedConfig>): void;
  drain(options?: DrainOptions): Promise<number>;
  close(): Promise<void>;
}

export function createServing(parts: ServingParts): Serving {
  const { settings, guard, observe, ticketSecret } = parts;
  const { config } = settings;
  const longLived = openLongLived(parts);
  const { keyring, uses, bans, upstreams, bodies, readAhead } = longLived;
  let pipeline = buildPipeline(settings, longLived);
  const closing = new AbortController();
  let compiling = new AbortController();
  const answerUnparsed = createUnparsedAnswers({
    ...{ guard, observe },
    hasReference: () => hasReference(inForce.config),
  });
  const limits = new ConnectionLimits(connectionLimits(config), observe);
  const listener = createListener({
    ...{ config, limits, answerUnparsed, ticketSecret, observe },
    handle: (call) => pipeline.handle(call),
  });
  // So that the first reload frees the first contract.
  let inForce = settings;
  usePreamble(settings);

  function usePreamble({ config, certificates }: ActiveConfig<ServedConfig>): void {
    listener.use({ tls: certificates.listen, balancers: config.listen.proxyProtocol.trustedProxies });
  }

  function compileRest(contract: Contract): void {
    compiling.abort();
    compiling = new AbortController();
    const signal = AbortSignal.any([closing.signal, compiling.signal]);
    contract.prepare(signal).catch((error: unknown) => observe({ type: 'bug', id: 'contract', error }));
  }

  return {
    get inFlight() {
      return listener.inFlight;
    },
    bodies,
    get store() {
      return sumOfConnections(upstreams.status);
    },
    get stores() {
      return upstreams.status;
    },
    get down() {
      return upstreams.down;
    },
    get knowsKeys() {
      return keyring.isReady;
    },
    whenKeysKnown: keyring.whenReady,
    uses,
    async listen(options) {
      await keyring.opened;
      const url = urlOf(config.listen.host, await listener.listen(options), inForce.certificates.listen !== null);
      compileRest(inForce.contract);
      return url;
    },
    prepare: (contract) => contract.prepare(AbortSignal.any([closing.signal, AbortSignal.timeout(PREPARE_TIMEOUT)])),
    use(settings) {
      inForce = settings;
      keyring.usePlans(plansIn(settings));
      bodies.use(bodiesSettings(settings.config));
      readAhead.most = settings.config.http.bodyBudget;
      limits.use(connectionLimits(settings.config));
      upstreams.use(settings.config, settings.certificates);
      usePreamble(settings);
      pipeline = buildPipeline(settings, longLived);
      compileRest(settings.contract);
    },
    drain: (options) => listener.drain(options),
    async close() {
      closing.abort();
      bodies.close();
      upstreams.close();
      keyring.close();
      await bans.close();
      await uses.close();
    },
  };
}

function openLongLived(parts: ServingParts): LongLivedParts {
  const { settings, storage, guard, observe, clock, tracing, deprecatedAtAll } = parts;
  const { config } = settings;
  const { state, keys } = storage;
  const keyring = new Keyring(keys, plansIn(settings), { recheckAfter: storage.recheckKeysAfter });
  const subjects = new AddressSubjects(clock);
  const uses = new LastUseTracker(storage.uses, {
    clock,
    failed: (error) => observe({ type: 'last_used.write_failed', error }),
    onFirstUse: parts.reportsFirstUses ? (keyId, at) => observe({ type: 'key.first_used', keyId, at }) : null,
  });
  const bans = new BanRecorder({
    log: storage.banLog,
    reportsLateBans: storage.onBan !== undefined,
    clock,
    dropped: (count) => observe({ type: 'ban_log.dropped', count }),
    failed: (error) => observe({ type: 'bug', id: 'bans', error }),
    begun: (ban, strike) => observe({ type: 'ban.started', ban, strike }),
  });
  storage.onBan?.((ban) => bans.begun(ban));
  const upstreams = new Upstreams(config, settings.certificates, observe);
  const deprecatedHere = (keyId: string) => uses.deprecatedBy(keyId);
  const deprecatedBy = deprecatedAtAll
    ? (keyId: string) => deprecatedAtAll(keyId).catch(() => deprecatedHere(keyId))
    : deprecatedHere;
  const bodies = new Bodies(bodiesSettings(config));
  const readAhead = new SharedBudget(config.http.bodyBudget);
  const flights = new Flights();
  return {
    state,
    bans,
    keyring,
    keys,
    uses,
    deprecatedBy,
    guard,
    flights,
    subjects,
    upstreams,
    bodies,
    readAhead,
    largeChecks: new LargeChecks(),
    observe,
    clock,
    tracing,
  };
}

function plansIn({ config: { plans }, contract: { windows } }: ActiveConfig<ServedConfig>): Plans {
  return windows.length === 0 ? plans : { ...plans, scoped: windows };
}

function connectionLimits({ http: door, listen }: ServedConfig): ConstructorParameters<typeof ConnectionLimits>[0] {
  return { ...door, balancers: listen.proxyProtocol.trustedProxies };
}

function bodiesSettings({ http: { bodyBudget, minBodyRate } }: ServedConfig): BodiesSettings {
  return { budget: bodyBudget, minRate: minBodyRate };
}
