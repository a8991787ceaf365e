import type { Task } from '../../../src/admin/call.ts';
import { createChanges } from '../../../src/admin/change.ts';
import type { AdminContext } from '../../../src/admin/context.ts';
import { lastDay } from '../../../src/admin/last-day.ts';
import { auditOperations } from '../../../src/admin/operations/audit.ts';
import { banOperations } from '../../../src/admin/operations/bans.ts';
import { keyOperations } from '../../../src/admin/operations/keys.ts';
import { tokenOperations } from '../../../src/admin/operations/tokens.ts';
import { trafficOperations } from '../../../src/admin/operations/traffic.ts';
import { usageOperations } from '../../../src/admin/operations/usage.ts';
import { createAddressSubjects } from '../../../src/common/clients/address-subjects.ts';
import { createGuard } from '../../../src/common/clients/guard.ts';
import type { Config } from '../../../src/config/config.ts';
import { accessTo, createLedger } from '../../../src/ledger/ledger.ts';
import type { Plans } from '../../../src/limits/plans.ts';
import { type Event, type Observe, toAll } from '../../../src/observe/events.ts';
import {
  type GatewaySources,
  isQuery,
  type ProcessSources,
  partOf,
  responseOf,
} from '../../../src/observe/peers/queries.ts';
import { sharedClock } from '../../../src/observe/shared-clock.ts';
import { createBanRecorder } from '../../../src/records/ban-recorder.ts';
import { openEmbedded } from '../../../src/records/embedded/open.ts';
import { createKeyring } from '../../../src/records/keys/keyring.ts';
import { createLastUseTracker } from '../../../src/records/keys/last-use-tracker.ts';
import { openRedis } from '../../../src/records/redis/open.ts';
import { createProcessHealth } from '../../../src/run/process-health.ts';
import { createGatewayWebhooks } from '../../../src/run/webhooks.ts';
import { SCOPED } from './operations.ts';
import { Traffic } from './traffic.ts';

export interface RunningParts {
  readonly name: string;
  readonly config: Config;
  readonly heard: Observe;
  readonly trueTime: () => number;
}

/**
 * A gateway of one process, put together as run/ does, without listeners, contract and backends.
 * Rejects if its state cannot be opened.
 */
export async function openProcess({ name, config, heard: received, trueTime }: RunningParts) {
  const clock = Date.now;
  const webhooks = createGatewayWebhooks(config);
  const moment = sharedClock(clock);
  const health = createProcessHealth();
  const ledger = createLedger({ clock: moment.clock, observe: (event) => observe(event) });
  ledger.use(config);
  const listeners = [health.observe, ledger.observe, ...webhooks.listeners, received];
  const observe: Observe = moment.of(toAll(...listeners));
  const storage =
    config.redis === null
      ? openEmbedded(config.data, { clock, audit: config.audit, observe })
      : await openRedis(config.redis, { observe, audit: config.audit, folder: config.data });
  ledger.begin(storage);
  let plans: Plans = { ...config.plans, scoped: SCOPED };
  const keyring = createKeyring(storage.keys, plans);
  const uses = createLastUseTracker(storage.uses, {
    clock,
    failed: (error) => observe({ type: 'last_used.write_failed', error }),
    onFirstUse: (keyId, at) => observe({ type: 'key.first_used', keyId, at }),
  });
  const bans = createBanRecorder({
    log: storage.banLog,
    reportsLateBans: storage.onBan !== undefined,
    dropped: (count) => observe({ type: 'ban_log.dropped', count }),
    failed: (error) => observe({ type: 'bug', id: 'bans', error }),
    begun: (ban, strike) => observe({ type: 'ban.started', ban, strike }),
  });
  storage.onBan?.((ban) => bans.begun(ban));
  const guard = createGuard(config.http.authFailureLimit);
  const subjects = createAddressSubjects(clock);
  const { state } = storage;
  const settings = { ...config, plans };
  const parts = { state, keyring, guard, bans, uses, subjects, observe, clock, trueTime };
  const traffic = new Traffic({ config: settings, ...parts });
  const processSources = { recorder: ledger.recorder } as unknown as ProcessSources;
  const sources = {} as GatewaySources;
  const ask = async (question: string, argument: unknown) => ({
    parts: [partOf(processSources, question, argument)],
    missing: 0,
  });
  const peers = storage.join(
    {
      name,
      respond: (query, argument) =>
        isQuery(query) ? responseOf(query, argument, sources, ask) : null,
    },
    (error) => observe({ type: 'bug', id: 'peers', error }),
  );
  await webhooks.open(
    { config, gateway: name, records: storage, outbox: storage.outbox, clock },
    observe,
  );
  const access = accessTo(storage.ledger, ledger.writer, (damage) => {
    throw new Error(damage);
  });
  const context = {
    keys: storage.keys,
    auditLog: storage.auditLog,
    banLog: storage.banLog,
    tokens: storage.tokens,
    lastKnown: storage.lastKnown,
    uses,
    clock,
    state: () => state,
    peers: () => peers,
    ledger: () => access,
    config: () => ({ ...config, plans }),
    plans: () => plans,
    contract: () => ({ windows: SCOPED, operations: [] }),
  } as unknown as AdminContext;
  const changes = createChanges(storage.auditLog);
  const { change } = changes;
  const operations = {
    ...keyOperations(context, change),
    ...tokenOperations(context, change),
    ...banOperations(context, change),
    ...usageOperations(context, change),
    ...auditOperations(context),
    ...trafficOperations(context),
  };
  return {
    traffic,
    operations,
    observe,
    storage,
    keyring,
    peers,
    access,
    webhooks,
    /** What `plans simulate` shows of the last day for windows of the plan `name`. */
    async lastDay(name: string, planned: Plans) {
      const records = (await Array.fromAsync(storage.keys.read())).flat();
      return await lastDay(context, clock(), name, { ...planned, scoped: SCOPED }, records);
    },
    usePlans(changed: Plans): void {
      plans = { ...changed, scoped: SCOPED };
      keyring.usePlans(plans);
      traffic.usePlans(plans);
      ledger.use({ ...config, plans });
    },
    /** As `letGo` in run/gateway.ts. */
    async close(): Promise<void> {
      await changes.close();
      await peers.close();
      keyring.close();
      await bans.close();
      await uses.close();
      await ledger.close();
      await webhooks.close();
      await storage.close();
    },
  };
}

export type Running = Awaited<ReturnType<typeof openProcess>>;

export type { Event, Task };
