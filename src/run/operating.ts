import { CONSOLE_PATH, createConsole } from '@storegate/console';
import type { FindPage } from '@storegate/pages';
import { createOperatorsReference } from '@storegate/reference';
import { createAdmin } from '../admin/admin.ts';
import { AdminError } from '../admin/admin-error.ts';
import { adminContract } from '../admin/api.ts';
import type { AdminContext, Reloaded } from '../admin/context.ts';
import { ADMIN_ERRORS } from '../admin/error-words.ts';
import type { Eventually } from '../common/eventually.ts';
import { firstEnd, warningsOf } from '../config/certificates.ts';
import type { Config } from '../config/config.ts';
import { watchFiles } from '../config/watch.ts';
import type { Observe } from '../observe/events.ts';
import type { Metrics } from '../observe/metrics.ts';
import type { Fleet } from '../observe/peers/fleet.ts';
import type { Readiness } from '../observe/peers/readiness.ts';
import type { ConfigurationStatus } from '../observe/peers/status.ts';
import type { State } from '../state/state.ts';
import type { Records } from '../state/storage.ts';
import type { ContractLoader } from './contracts/loader.ts';
import { CountedSince } from './counted-since.ts';
import { type ActiveConfig, createReloader, FILE_CHANGED, type ReloaderParts, ReloadRefused } from './reload.ts';
import { configurationStatus, digestsOf } from './status.ts';
import { urlOf } from './url.ts';

export interface OperatingParts<C extends Config> {
  readonly initial: ActiveConfig<C>;
  /** Reads the configuration again for a reload. Without it the gateway watches no files and keeps its configuration. */
  readonly load: (() => Config) | undefined;
  /** Its owner closes it. */
  readonly contracts: ContractLoader;
  readonly prepare: ReloaderParts<C>['prepare'];
  /** Puts new settings in force in every process that carries requests. */
  readonly swap: (settings: ActiveConfig<C>) => Eventually<void>;
  /** Its owner closes them. */
  readonly records: Pick<Records, 'keys' | 'auditLog' | 'banLog' | 'tokens'>;
  readonly state: State;
  readonly lastKnown: AdminContext['lastKnown'];
  readonly uses: AdminContext['uses'];
  readonly webhooks: AdminContext['webhooks'];
  readonly metrics: Pick<Metrics, 'contentType' | 'text' | 'openMetrics'>;
  /** Valid for this run only; admits the gateway's own user, see `state/embedded/lock.ts`. */
  readonly ownToken: string | null;
  readonly readiness: () => Readiness;
  /** What is away, as in Ability. */
  readonly away: () => readonly string[];
  /** The fleet that this gateway is one of. Its owner closes it. */
  readonly fleet: Fleet;
  readonly observe: Observe;
  readonly clock: () => number;
}

/** Everything for operators: the admin listener, and the configuration with its reloads. */
export interface Operating {
  /** Operations that the contract in force does not enforce. */
  readonly exempted: number;
  /** When the first of the gateway's certificates ends, Unix milliseconds. */
  readonly certificateEnd: number;
  readonly configuration: ConfigurationStatus;
  readonly lastReload: ConfigurationStatus['lastReload'];
  /** Since when plans have their windows. */
  readonly windowsSince: Pick<CountedSince, 'of'>;
  /** Resolves with the URL for operators. Rejects with ListenError. */
  listen(): Promise<string>;
  /** All of the files holds from the next request on, or nothing changes. Rejects with ReloadRefused. */
  reload(reason: string): Promise<Reloaded>;
  close(): Promise<void>;
}

/** Throws as `createAdminApi`; then nothing is left open here. */
export function createOperating<C extends Config>(parts: OperatingParts<C>): Operating {
  const {
    initial,
    load,
    contracts,
    prepare,
    swap,
    records,
    state,
    lastKnown,
    uses,
    webhooks,
    metrics,
    ownToken,
    readiness,
    away,
    fleet,
    observe,
    clock,
  } = parts;
  const { config } = initial;
  const { keys, auditLog, banLog, tokens } = records;
  const windowsSince = new CountedSince(config.plans, clock);
  const reloader = createReloader({
    initial,
    load: load ?? (() => config),
    contracts,
    keys,
    observe,
    prepare,
    async swap(settings) {
      await swap(settings);
      windowsSince.use(settings.config.plans);
      admin.use(settings.certificates.admin);
      tellUsed(settings);
      warn(settings);
    },
  });
  tellUsed(initial);
  warn(initial);
  const context: AdminContext = {
    keys,
    auditLog,
    banLog,
    tokens,
    uses,
    webhooks,
    clock,
    state: () => state,
    lastKnown,
    fleet: () => fleet,
    config: () => reloader.current.config,
    plans: () => reloader.current.config.plans,
    reload: (reason, around) => reloader.reload(reason, around).catch(refusing('Nothing was changed')),
    compare: () => reloader.compare().catch(refusing('A reload would be refused')),
    scoped: () => reloader.current.contract.windows,
  };
  const admin = createAdmin({
    config,
    tls: initial.certificates.admin,
    context,
    metrics,
    observe,
    ownToken,
    readiness,
    away,
    console: config.console.enabled ? consolePages() : null,
  });
  const watch = load ? watchFiles(filesOf, reloadUnasked) : null;

  function tellUsed(settings: ActiveConfig<C>): void {
    observe({ type: 'configuration.used', ...digestsOf(settings) });
  }

  /** Also after reloads that have read the same again: what is told has not been mended. */
  function warn({ certificates }: ActiveConfig<C>): void {
    for (const warning of warningsOf(certificates, clock())) observe({ type: 'tls.warning', warning });
  }

  function filesOf(): readonly string[] {
    const { config, contract, certificates } = reloader.current;
    const { gateway, plans, addresses } = config.files;
    return [gateway, plans, ...addresses, ...contract.files.keys(), ...certificates.files];
  }

  function reloadUnasked(): void {
    // The log and a metric show a refused reload; no caller waits for the answer.
    reloader.reload(FILE_CHANGED).catch(() => {});
  }

  return {
    get exempted() {
      return reloader.current.contract.exempted.length;
    },
    get certificateEnd() {
      return firstEnd(reloader.current.certificates);
    },
    get configuration() {
      return configurationStatus(reloader);
    },
    get lastReload() {
      return reloader.last;
    },
    windowsSince,
    listen: async () => urlOf(config.admin.host, await admin.listen(), reloader.current.certificates.admin !== null),
    reload: (reason) => reloader.reload(reason),
    async close() {
      watch?.close();
      await admin.close();
    },
  };
}

const REFERENCE_PATH = `${CONSOLE_PATH}/reference`;

/** The console, and the reference of the API that it speaks, which has a page of its own. */
function consolePages(): FindPage {
  const console = createConsole();
  const reference = createOperatorsReference({
    contract: adminContract(),
    prefix: `${REFERENCE_PATH}/`,
    api: `${CONSOLE_PATH}/api`,
    console: `${CONSOLE_PATH}/`,
    errors: ADMIN_ERRORS,
  });
  return async (path, asked) => (await console(path, asked)) ?? (await reference(path, asked));
}

/** Makes the answer of a ReloadRefused, which tells the operator every mistake. */
function refusing(words: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof ReloadRefused)) throw error;
    const details = error.problems.map((message) => ({
      in: 'body' as const,
      pointer: '',
      message,
      rule: 'unfit' as const,
    }));
    throw new AdminError('configuration_unfit', `${words}: ${error.problems.join('; ')}`, { details });
  };
}
