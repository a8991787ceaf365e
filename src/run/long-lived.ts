import { createAddressSubjects } from '../common/clients/address-subjects.ts';
import type { Guard } from '../common/clients/guard.ts';
import { createSharedBudget } from '../common/shared-budget.ts';
import type { ServedConfig } from '../config/config.ts';
import type { UsageParts } from '../gateway/own/usage.ts';
import { createFlights } from '../gateway/stages/in-flight.ts';
import { createLargeChecks } from '../gateway/stages/large-checks.ts';
import { createUpstreams } from '../gateway/upstream/backends.ts';
import { type BodiesSettings, createBodies } from '../gateway/wire/bodies.ts';
import { Via } from '../gateway/wire/via.ts';
import type { LedgerAccess } from '../ledger/ledger.ts';
import type { Plans } from '../limits/plans.ts';
import type { Observe } from '../observe/events.ts';
import type { Tracing } from '../observe/tracing/tracing.ts';
import { createBanRecorder } from '../records/ban-recorder.ts';
import { createKeyring } from '../records/keys/keyring.ts';
import { createLastUseTracker } from '../records/keys/last-use-tracker.ts';
import type { Storage } from '../records/storage.ts';
import type { ActiveConfig } from './reload.ts';

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
  readonly ledger: LedgerAccess;
  readonly deprecatedBy: UsageParts['deprecatedBy'];
}

/** All that outlives a reload. */
export function openLongLived(parts: ServingParts) {
  const {
    settings,
    storage,
    guard,
    observe,
    clock,
    tracing,
    ledger,
    deprecatedBy,
  } = parts;
  const { config } = settings;
  const { state, keys, openAddressWindow } = storage;
  const keyring = createKeyring(keys, plansIn(settings));
  const subjects = createAddressSubjects(clock);
  const uses = createLastUseTracker(storage.uses, {
    clock,
    failed: (error) => observe({ type: 'last_used.write_failed', error }),
    onFirstUse: parts.reportsFirstUses
      ? (keyId, at) => observe({ type: 'key.first_used', keyId, at })
      : null,
  });
  const bans = createBanRecorder({
    log: storage.banLog,
    reportsLateBans: storage.onBan !== undefined,
    dropped: (count) => observe({ type: 'ban_log.dropped', count }),
    failed: (error) => observe({ type: 'bug', id: 'bans', error }),
    begun: (ban, strike) => observe({ type: 'ban.started', ban, strike }),
  });
  storage.onBan?.((ban) => bans.begun(ban));
  const upstreams = createUpstreams(config, settings.certificates, observe);
  const bodies = createBodies(bodiesSettings(config));
  const readAhead = createSharedBudget(config.http.bodyBudget);
  return {
    state,
    bans,
    keyring,
    keys,
    uses,
    guard,
    openAddressWindow,
    subjects,
    upstreams,
    bodies,
    observe,
    clock,
    tracing,
    deprecatedBy,
    ledger,
    via: new Via(parts.ticketSecret),
    flights: createFlights(),
    largeChecks: createLargeChecks(),
    readAhead,
    use(settings: ActiveConfig<ServedConfig>): void {
      keyring.usePlans(plansIn(settings));
      bodies.use(bodiesSettings(settings.config));
      readAhead.most = settings.config.http.bodyBudget;
      upstreams.use(settings.config, settings.certificates);
    },
    async close(): Promise<void> {
      bodies.close();
      upstreams.close();
      keyring.close();
      await bans.close();
      await uses.close();
    },
  };
}

export type LongLived = ReturnType<typeof openLongLived>;

function plansIn({
  config: { plans },
  contract: { windows },
}: ActiveConfig<ServedConfig>): Plans {
  return windows.length === 0 ? plans : { ...plans, scoped: windows };
}

function bodiesSettings({
  http: { bodyBudget, minBodyRate },
}: ServedConfig): BodiesSettings {
  return { budget: bodyBudget, minRate: minBodyRate };
}
