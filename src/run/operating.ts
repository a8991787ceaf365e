import { createAdmin, type Readiness } from '../admin/admin.ts';
import { AdminError } from '../admin/admin-error.ts';
import type { Desk, Reloaded } from '../admin/desk.ts';
import type { Eventually } from '../common/eventually.ts';
import type { Config } from '../config/config.ts';
import { watchFiles } from '../config/watch.ts';
import type { Observe } from '../observe/events.ts';
import type { Metrics } from '../observe/metrics.ts';
import type { State } from '../state/state.ts';
import type { Records } from '../state/storage.ts';
import { type ActiveConfig, createReloader, FILE_CHANGED, ReloadRefused } from './reload.ts';
import { urlOf } from './url.ts';

export interface OperatingParts<C extends Config> {
  readonly initial: ActiveConfig<C>;
  /** Reads the configuration again; without it the files are not watched and stay as they were read. */
  readonly load: (() => Config) | undefined;
  /** Puts new settings in force wherever requests are carried. */
  readonly swap: (settings: ActiveConfig<C>) => Eventually<void>;
  /** Stays its owner's to close. */
  readonly records: Pick<Records, 'keys' | 'auditLog' | 'tokens'>;
  readonly state: State;
  readonly uses: Desk['uses'];
  readonly metrics: Pick<Metrics, 'contentType' | 'text'>;
  /** Of this run alone; lets the gateway's own user in, see `state/embedded/lock.ts`. */
  readonly ownToken: string | null;
  readonly readiness: () => Readiness;
  readonly observe: Observe;
  readonly clock: () => number;
}

/** All that operators reach: the admin listener, and the configuration with its reloads. */
export interface Operating {
  /** Answers where operators reach it. Rejects with ListenError. */
  listen(): Promise<string>;
  /** All of the files holds from the next request on, or nothing changes. Throws ReloadRefused. */
  reload(reason: string): Promise<Reloaded>;
  close(): Promise<void>;
}

export function createOperating<C extends Config>(parts: OperatingParts<C>): Operating {
  const { initial, load, swap, records, state, uses, metrics, ownToken, readiness, observe, clock } = parts;
  const { config } = initial;
  const { keys, auditLog, tokens } = records;
  const reloader = createReloader({ initial, load: load ?? (() => config), keys, observe, swap });
  const desk: Desk = {
    keys,
    auditLog,
    tokens,
    uses,
    clock,
    state: () => state,
    config: () => reloader.current.config,
    plans: () => reloader.current.config.plans,
    reload: (reason) => reloader.reload(reason).catch(refusedToOperator),
  };
  const admin = createAdmin({ config, desk, metrics, observe, ownToken, readiness });
  const watch = load ? watchFiles(filesOf, reloadUnasked) : null;

  function filesOf(): readonly string[] {
    const { config, contract } = reloader.current;
    return [config.files.gateway, config.files.plans, ...contract.files.keys()];
  }

  function reloadUnasked(): void {
    // Whoever looks finds it in the log and in a metric: nobody waits for an answer.
    reloader.reload(FILE_CHANGED).catch(() => {});
  }

  return {
    listen: async () => urlOf(config.admin.host, await admin.listen()),
    reload: (reason) => reloader.reload(reason),
    async close() {
      watch?.close();
      await admin.close();
    },
  };
}

/** An operator is told every mistake in the answer. */
function refusedToOperator(error: unknown): never {
  if (!(error instanceof ReloadRefused)) throw error;
  const details = error.problems.map((message) => ({ in: 'body' as const, pointer: '', message }));
  throw new AdminError('configuration_unfit', `Nothing was changed: ${error.problems.join('; ')}`, { details });
}
