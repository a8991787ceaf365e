import type { Health } from '@storegate/admin-api';
import { severityOf } from '@storegate/admin-api/text';
import type { FindPage } from '@storegate/pages';
import { createAdmin } from '../admin/admin.ts';
import { AdminError } from '../admin/admin-error.ts';
import { prepareAdminContract } from '../admin/api.ts';
import type { AdminContext } from '../admin/context.ts';
import { firstEnd, warningsOf } from '../config/certificates.ts';
import type { Config, ServedConfig } from '../config/config.ts';
import { watchFiles } from '../config/watch.ts';
import type { Observe } from '../observe/events.ts';
import type { OperatingGauges } from '../observe/metric-rows.ts';
import type { Peers } from '../observe/peers/peers.ts';
import type { Readiness } from '../observe/peers/status.ts';
import type { ContractLoader } from './contracts/loader.ts';
import { keepCopy } from './contracts/remote.ts';
import { watchHealth } from './health-watch.ts';
import { createLocalAccess } from './local-access.ts';
import type { Processes } from './processes.ts';
import {
  type ActiveConfig,
  createReloader,
  FILE_CHANGED,
  type Reloader,
  ReloadRefused,
} from './reload.ts';
import { digestsOf } from './status.ts';
import { urlOf } from './url.ts';

interface OperatingParts {
  readonly initial: ActiveConfig<ServedConfig>;
  /** Without it the gateway watches no files. */
  readonly load: (() => Config) | undefined;
  readonly contracts: ContractLoader;
  readonly processes: Processes;
  readonly webhooks: AdminContext['webhooks'];
  readonly readiness: () => Readiness;
  readonly health: () => Promise<Health>;
  /** Closed by its owner. */
  readonly peers: Peers;
  readonly clock: () => number;
}

export function createOperating(parts: OperatingParts) {
  const { initial, load, contracts, processes, peers, clock } = parts;
  const { config } = initial;
  const { observe, storage, uses } = processes;
  const { keys, auditLog, banLog, tokens, state } = storage;
  const reloader = createReloader({
    initial,
    contracts,
    keys,
    observe,
    load: load ?? (() => config),
    async swap(settings, fetched) {
      await processes.use(settings);
      admin.use(settings.certificates.admin);
      report(settings, observe, clock);
      for (const one of fetched) await keepCopy(config.data, one, observe);
    },
  });
  report(initial, observe, clock);
  // Closures must not keep `parts`: it has the first contract.
  const { readiness, health } = parts;
  const local = createLocalAccess(config.data, observe);
  let endHealthWatch = () => {};

  const context: AdminContext = {
    keys,
    auditLog,
    banLog,
    tokens,
    uses,
    webhooks: parts.webhooks,
    clock,
    lastKnown: storage.lastKnown,
    outageText: storage.outageText,
    state: () => state,
    peers: () => peers,
    ledger: () => processes.ledger,
    config: () => reloader.current.config,
    plans: () => reloader.current.config.plans,
    reload: (reason, around) =>
      reloader.reload(reason, around).catch(refusing('Nothing was changed')),
    compare: () =>
      reloader.compare().catch(refusing('A reload would be refused')),
    contract: () => reloader.current.contract,
  };
  const admin = createAdmin({
    config,
    context,
    metrics: processes.metrics,
    observe,
    readiness,
    health,
    tls: initial.certificates.admin,
    down: () => processes.readiness().down,
    console: config.console.enabled ? consolePages() : null,
  });
  // The log and a metric show a failed reload.
  const reloadUnasked = () =>
    void reloader.reload(FILE_CHANGED).catch(() => {});
  const watch = load
    ? watchFiles(() => filesOf(reloader.current), reloadUnasked)
    : null;

  return {
    reloader,
    /** Rejects with ListenError. */
    listen: async (fd?: number) =>
      urlOf(
        config.admin.host,
        await admin.listen(fd),
        reloader.current.certificates.admin !== null,
      ),
    /**
     * Call once the gateway listens: commands then find it through its data folder, and changes of
     * its health are reported. Before, it would be reported as down.
     */
    async announce(): Promise<void> {
      await local.open(admin.local);
      endHealthWatch = watchHealth({
        health,
        isStopping: () => readiness() === 'stopping',
        observe,
      });
    },
    async close(): Promise<void> {
      watch?.close();
      endHealthWatch();
      await local.close();
      await admin.close();
    },
  };
}

export type Operating = ReturnType<typeof createOperating>;

/** After each reload, until the cause is fixed. */
function report(
  settings: ActiveConfig<ServedConfig>,
  observe: Observe,
  clock: () => number,
): void {
  observe({ type: 'configuration.applied', ...digestsOf(settings) });
  for (const { copy } of settings.apis) {
    if (!copy) continue;
    const { url, at, reason } = copy;
    observe({
      type: 'contract.copy_in_use',
      url,
      fetched: new Date(at).toISOString(),
      reason,
    });
  }
  for (const warning of warningsOf(settings.certificates, clock()))
    observe({ type: 'tls.warning', warning });
}

function filesOf({
  config,
  contract,
  certificates,
}: ActiveConfig<ServedConfig>): readonly string[] {
  const { gateway, plans, others } = config.files;
  return [
    gateway,
    plans,
    ...others,
    ...contract.files.keys(),
    ...certificates.files,
  ];
}

/** Made at the first visit. */
function consolePages(): FindPage {
  let pages: Promise<FindPage> | null = null;
  return async (path, request) => {
    pages ??= prepareAdminContract()
      .then(() => import('./console-pages.ts'))
      .then(({ createConsolePages }) => createConsolePages());
    return (await pages)(path, request);
  };
}

function refusing(text: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof ReloadRefused)) throw error;
    const details = error.problems.map((message) => ({
      in: 'body' as const,
      pointer: '',
      message,
      rule: 'unfit' as const,
    }));
    throw new AdminError(
      'configuration_unfit',
      `${text}: ${error.problems.join('; ')}`,
      {
        details,
      },
    );
  };
}

/** A start has read the files, so it counts as a reload. */
export function operatingGauges(
  reloader: () => Pick<Reloader<Config>, 'current' | 'last'>,
  { readiness, health }: Pick<OperatingParts, 'readiness' | 'health'>,
  startedAt: number,
): OperatingGauges {
  return {
    exempted: () => reloader().current.contract.exempted.length,
    certificateEnd: () => firstEnd(reloader().current.certificates) / 1_000,
    ready: () => Number(readiness() === 'ready'),
    health: async () => severityOf(await health()),
    reloadSuccess: () => Number((reloader().last?.problems ?? []).length === 0),
    reloadTime: () => (reloader().last?.at ?? startedAt) / 1_000,
  };
}
