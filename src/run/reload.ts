import { isDeepStrictEqual } from 'node:util';
import {
  ContractError,
  formatProblems as formatContractProblems,
  formatExempted,
  isSameReading,
} from '@storegate/openapi';
import type { Compared, Reloaded, ReloadWrapper } from '../admin/context.ts';
import { Outage } from '../common/errors/outage.ts';
import { createKeyedMutex } from '../common/keyed-mutex.ts';
import { type Certificates, readCertificates } from '../config/certificates.ts';
import type { Api, Config } from '../config/config.ts';
import type { Contracts } from '../config/contract/contract.ts';
import { isRemote } from '../config/contract/place.ts';
import { hiddenOperations } from '../config/own-paths.ts';
import { ConfigError, formatProblem } from '../config/problems/problems.ts';
import { differences, inForce, keepsValue } from '../config/restart.ts';
import { publicationOf } from '../gateway/own/published/document.ts';
import type { Plans } from '../limits/plans.ts';
import type { Observe } from '../observe/events.ts';
import type { LastReload } from '../observe/peers/status.ts';
import type { KeyStore } from '../records/keys/store.ts';
import {
  type ActiveApi,
  contractsOf,
  loadAll,
  refuseMistakes,
} from './apis.ts';
import {
  type ContractLoader,
  isUnchanged,
  type Loaded,
  LoadingEnded,
} from './contracts/loader.ts';
import type { Fetched } from './contracts/remote.ts';
import { missingPlanText } from './missing-plans.ts';

export interface ActiveConfig<C extends Config> {
  readonly config: C;
  readonly certificates: Certificates;
  /** In the order of `config.apis`. */
  readonly apis: readonly ActiveApi[];
  readonly contract: Contracts;
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
  /** Done once every process has the settings. `fetched`: contracts that were fetched now. */
  readonly swap: (
    settings: ActiveConfig<C>,
    fetched: readonly Fetched[],
  ) => Promise<void>;
  readonly observe: Observe;
}

export function createReloader<C extends Config>(parts: ReloaderParts<C>) {
  const { load, contracts, keys, swap, observe } = parts;
  const turns = createKeyedMutex();
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
    const { next, reloaded, fetched, refused } = await orRefuse(reason, () =>
      read(reason !== FILE_CHANGED),
    );
    const { changed, needRestart } = reloaded;
    waiting = needRestart;
    const wasRefused = (last?.problems.length ?? 0) > 0;
    // The failure is over.
    if (
      reason === FILE_CHANGED &&
      !wasRefused &&
      refused.length === 0 &&
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
    last = { at: Date.now(), reason, problems: refused };
    if (refused.length > 0)
      observe({ type: 'reload.failed', reason, problems: refused });
    observe({ type: 'reload.done', reason, changed, needRestart });
    return reloaded;
  }

  /** `fetches`: whether a contract is fetched again. */
  async function read(fetches: boolean) {
    const loaded = load();
    const config = inForce(current.config, loaded);
    const certificates = readCertificates(config);
    const { apis, fetched, refused } = await readApis(config, fetches);
    const contract = contractsOf(apis);
    refuseMistakes(apis, config);
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
      config,
      certificates,
      apis,
      contract,
    });
    const needRestart = different.filter((name) => keepsValue(name, loaded));
    const reloaded = { changed, needRestart, copy: copyIn(next) };
    return { loaded, fetched, refused, next, reloaded };
  }

  /** Of several APIs, one whose contract is refused keeps the contract that it has. */
  async function readApis(config: C, fetches: boolean) {
    const refused: string[] = [];
    const read = await loadAll(config.apis, async (api): Promise<Loaded> => {
      const before = current.apis.find((one) => one.api.name === api.name);
      const isSame =
        before !== undefined &&
        !(fetches && isRemote(api.contract.file)) &&
        sameReading(before.api, api) &&
        (await isUnchanged(before.contract));
      if (isSame) return before;
      try {
        return await contracts.load({ ...api, data: config.data });
      } catch (error) {
        const isKept = before !== undefined && config.apis.length > 1;
        if (!isKept || !(error instanceof ContractError)) throw error;
        for (const problem of problemsOf(error))
          refused.push(`the API ${api.name} keeps its contract: ${problem}`);
        return before;
      }
    });
    return { ...read, refused };
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

function reportExempted({ exempted }: Contracts, observe: Observe): void {
  if (exempted.length > 0)
    observe({
      type: 'contract.exempted',
      operations: formatExempted(exempted),
    });
}

const hiddenIn = ({ apis }: ActiveConfig<Config>): string[] =>
  apis.flatMap(({ api, contract }) => hiddenOperations(api, contract));

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

function sameReading(one: Api, other: Api): boolean {
  return (
    one.contract.file === other.contract.file &&
    isDeepStrictEqual(publicationOf(one), publicationOf(other)) &&
    isSameReading(one.contract, other.contract)
  );
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
    used.push(missingPlanText(plan, count));
  }
  if (used.length > 0) throw new ReloadRefused(used);
}

async function hasKeyInUse(keys: KeyStore, plan: string): Promise<boolean> {
  for await (const batch of keys.read({ plan }))
    if (batch.some(({ revokedAt }) => revokedAt === null)) return true;
  return false;
}

/** `null`: all contracts in force are those of their files and URLs. */
export function copyIn({
  apis,
}: Pick<ActiveConfig<Config>, 'apis'>): Reloaded['copy'] {
  const copy = apis.find((one) => one.copy)?.copy;
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
