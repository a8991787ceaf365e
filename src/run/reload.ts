import { isDeepStrictEqual } from 'node:util';
import {
  ContractError,
  formatProblems as formatContractProblems,
  formatExempted,
  isSameReading,
} from '@storegate/openapi';
import type { Compared, Reloaded, ReloadWrapper } from '../admin/context.ts';
import { Outage } from '../common/errors/outage.ts';
import { KeyedMutex } from '../common/keyed-mutex.ts';
import { suggest } from '../common/suggest.ts';
import { type Certificates, readCertificates } from '../config/certificates.ts';
import type { Config } from '../config/config.ts';
import type { Contract } from '../config/contract/contract.ts';
import { isRemote } from '../config/contract/place.ts';
import { hiddenOperations } from '../config/own-paths.ts';
import { ConfigError, formatProblem } from '../config/problems/problems.ts';
import { differences, inForce, keepsValue } from '../config/restart.ts';
import { DEFAULT_UPSTREAM } from '../config/upstreams.ts';
import { publicationOf } from '../gateway/own/published/document.ts';
import type { Plans } from '../limits/plans.ts';
import type { Observe } from '../observe/events.ts';
import type { LastReload } from '../observe/peers/status.ts';
import type { KeyStore } from '../records/keys/store.ts';
import {
  type ContractLoader,
  isUnchanged,
  type Loaded,
  LoadingEnded,
} from './contracts/loader.ts';
import type { Fetched } from './contracts/remote.ts';

export interface ActiveConfig<C extends Config> extends Loaded {
  readonly config: C;
  readonly certificates: Certificates;
}

export const FILE_CHANGED = 'a file has changed';

export class ReloadRefused extends Error {
  override name = 'ReloadRefused';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}

interface ReloaderParts<C extends Config> {
  readonly initial: ActiveConfig<C>;
  readonly load: () => Config;
  readonly contracts: Pick<ContractLoader, 'load'>;
  readonly keys: KeyStore;
  /** Done once every process has the settings. `fetched`: their contract, if it was fetched now. */
  readonly swap: (
    settings: ActiveConfig<C>,
    fetched: Fetched | null,
  ) => Promise<void>;
  readonly observe: Observe;
}

export function createReloader<C extends Config>(parts: ReloaderParts<C>) {
  const { load, contracts, keys, swap, observe } = parts;
  const turns = new KeyedMutex();
  let current = parts.initial;
  let waiting: readonly string[] = [];
  let last: LastReload | null = null;
  reportExempted(current.contract, observe);
  reportHidden(current, [], observe);

  async function orProblems<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const problems = problemsOf(error);
      if (problems === BUG) observe({ type: 'bug', id: 'reload', error });
      throw new ReloadRefused(problems);
    }
  }

  function orRefuse<T>(reason: string, work: () => Promise<T>): Promise<T> {
    return orProblems(work).catch((error: ReloadRefused) => {
      last = { at: Date.now(), reason, problems: error.problems };
      observe({ type: 'reload.failed', reason, problems: error.problems });
      throw error;
    });
  }

  async function reloadNow(
    reason: string,
    around: ReloadWrapper,
  ): Promise<Reloaded> {
    const { next, reloaded, fetched } = await orRefuse(reason, () =>
      read(reason !== FILE_CHANGED),
    );
    const { changed, needRestart } = reloaded;
    waiting = needRestart;
    const wasRefused = (last?.problems.length ?? 0) > 0;
    // The failure is over.
    if (
      reason === FILE_CHANGED &&
      !wasRefused &&
      changed.length + needRestart.length === 0
    )
      return reloaded;
    await around(reloaded, () =>
      orRefuse(reason, async () => {
        await swap(next, fetched);
        const before = current;
        current = next;
        if (next.contract !== before.contract)
          reportExempted(next.contract, observe);
        reportHidden(next, hiddenIn(before), observe);
      }),
    );
    last = { at: Date.now(), reason, problems: [] };
    observe({ type: 'reload.done', reason, changed, needRestart });
    return reloaded;
  }

  /** `fetches`: whether a contract is fetched again. */
  async function read(fetches: boolean) {
    const loaded = load();
    const mayDiffer = fetches && isRemote(loaded.contract.file);
    const sameContract =
      !mayDiffer &&
      sameReading(current.config, loaded) &&
      (await isUnchanged(current.contract));
    const config = inForce(current.config, loaded);
    const certificates = readCertificates(config);
    const read = sameContract ? current : await contracts.load(loaded);
    const { contract } = read;
    refuseUnknownUpstreams(contract, config);
    await refuseLostPlans(current.config.plans, loaded.plans, keys);

    const different = differences(current.config, loaded);
    const changed = different.filter((name) => !keepsValue(name, loaded));
    if (plansText(loaded.plans) !== plansText(current.config.plans))
      changed.push('plans');
    if (contract.fingerprint !== current.contract.fingerprint)
      changed.push('contract');
    if (JSON.stringify(certificates) !== JSON.stringify(current.certificates))
      changed.push('certificates');
    const next: ActiveConfig<C> = Object.freeze({
      ...loadedIn(read),
      config,
      certificates,
    });
    const needRestart = different.filter((name) => keepsValue(name, loaded));
    const reloaded = { changed, needRestart, copy: copyIn(next) };
    return { loaded, fetched: read.fetched ?? null, next, reloaded };
  }

  async function compareNow(): Promise<Compared> {
    const { loaded, next, reloaded } = await orProblems(() => read(true));
    return {
      inForce: current,
      inFiles: { config: loaded, contract: next.contract },
      reloaded,
    };
  }

  return {
    get current() {
      return current;
    },
    get waiting() {
      return waiting;
    },
    get last() {
      return last;
    },
    /** One at a time. Rejects with ReloadRefused, and with what `around` throws. */
    reload: (
      reason: string,
      around: ReloadWrapper = (_reloaded, apply) => apply(),
    ) => turns.take('reload', () => reloadNow(reason, around)),
    /** Changes and reports nothing. Rejects with ReloadRefused. */
    compare: () => turns.take('reload', compareNow),
  };
}

export type Reloader<C extends Config> = ReturnType<typeof createReloader<C>>;

function reportExempted({ exempted }: Contract, observe: Observe): void {
  if (exempted.length > 0)
    observe({
      type: 'contract.exempted',
      operations: formatExempted(exempted),
    });
}

const hiddenIn = ({ config, contract }: ActiveConfig<Config>): string[] =>
  hiddenOperations(config, contract);

/** Reports the hidden operations unless they are those of `known`. */
function reportHidden(
  settings: ActiveConfig<Config>,
  names: readonly string[],
  observe: Observe,
): void {
  const operations = hiddenIn(settings);
  if (operations.join() !== names.join() && operations.length > 0)
    observe({ type: 'contract.hidden', operations });
}

function sameReading(one: Config, other: Config): boolean {
  return (
    one.contract.file === other.contract.file &&
    isDeepStrictEqual(publicationOf(one), publicationOf(other)) &&
    isSameReading(one.contract, other.contract)
  );
}

/** Throws ContractError for every unknown name. */
export function refuseUnknownUpstreams(
  { operations }: Pick<Contract, 'operations'>,
  config: Config,
): void {
  const names = [DEFAULT_UPSTREAM, ...Object.keys(config.upstreams)];
  const problems = operations.flatMap(({ id, method, path, upstream }) => {
    if (upstream === null || names.includes(upstream)) return [];
    const near = suggest(upstream, names);
    const hint =
      near === null ? `known are ${names.join(', ')}` : `did you mean ${near}?`;
    const message = `${id} (${method} ${path}): x-storegate-upstream names ${upstream}, which upstreams in gateway.yaml does not have; ${hint}`;
    return [{ file: config.contract.file, place: '', message }];
  });
  if (problems.length > 0) throw new ContractError(problems);
}

/** Requests of its keys would be refused. */
async function refuseLostPlans(
  { plans: before }: Plans,
  { plans }: Plans,
  keys: KeyStore,
): Promise<void> {
  const lost = [...before.keys()].filter((plan) => !plans.has(plan));
  if (lost.length === 0) return;
  const used: string[] = [];
  for (const [plan, count] of await keys.countKeys(lost)) {
    // The count may include a change that was interrupted.
    if (count === 0 || !(await hasKeyInUse(keys, plan))) continue;
    used.push(
      `plan ${plan} is missing, and ${count} ${count === 1 ? 'key has' : 'keys have'} it`,
    );
  }
  if (used.length > 0) throw new ReloadRefused(used);
}

async function hasKeyInUse(keys: KeyStore, plan: string): Promise<boolean> {
  for await (const batch of keys.read({ plan }))
    if (batch.some(({ revokedAt }) => revokedAt === null)) return true;
  return false;
}

const loadedIn = ({ contract, prepared, copy }: Loaded): Loaded => ({
  contract,
  prepared,
  ...(copy && { copy }),
});

/** `null`: the contract in force is that of its file or URL. */
export function copyIn({ copy }: Pick<Loaded, 'copy'>): Reloaded['copy'] {
  return copy ? { at: copy.at, reason: copy.reason } : null;
}

export function plansText({
  plans,
  publicPlan,
  escalation,
  accounts,
  concurrencies = new Map(),
}: Plans): string {
  return JSON.stringify([
    [...plans],
    publicPlan,
    escalation,
    [...accounts],
    [...concurrencies],
  ]);
}

const BUG: readonly string[] = [
  'something went wrong inside the gateway: see its log',
];

function problemsOf(error: unknown): readonly string[] {
  if (error instanceof ConfigError) return error.problems.map(formatProblem);
  if (error instanceof ContractError)
    return formatContractProblems(error.problems);
  if (error instanceof ReloadRefused) return error.problems;
  if (error instanceof LoadingEnded) return ['the gateway is stopping'];
  if (error instanceof Outage)
    return [
      'the state is down, so the plans of keys are unknown: try again later',
    ];
  return BUG;
}
