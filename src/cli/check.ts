import { accessSync, constants, existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { limitText, plural } from '@storegate/admin-api/text';
import {
  ContractError,
  formatExempted,
  formatProblems,
  type Problem,
} from '@storegate/openapi';
import { Outage } from '../common/errors/outage.ts';
import { readCertificates, warningsOf } from '../config/certificates.ts';
import type { Api, Config } from '../config/config.ts';
import type { Contracts } from '../config/contract/contract.ts';
import { NO_CONTRACT } from '../config/contract/place.ts';
import { loadConfig } from '../config/load.ts';
import { displacedUsage, hiddenOperations } from '../config/own-paths.ts';
import { DEFAULT_UPSTREAM, endsWithPath } from '../config/upstreams.ts';
import { formatLimit } from '../config/windows.ts';
import { peekKeys } from '../records/embedded/peek.ts';
import {
  type ActiveApi,
  contractsOf,
  loadAll,
  refuseMistakes,
} from '../run/apis.ts';
import { ContractLoader, LoadingEnded } from '../run/contracts/loader.ts';
import type { CopyInUse } from '../run/contracts/remote.ts';
import { missingPlans } from '../run/missing-plans.ts';
import {
  findUnmigratedKeys,
  unmigratedKeysText,
} from '../run/unmigrated-keys.ts';
import { readCounters } from '../state/embedded/counter-store.ts';
import { readStateIfAny } from '../state/embedded/file.ts';
import { RedisError } from '../state/redis/error.ts';
import { bodyLimitNotes } from './body-notes.ts';
import { CommandError } from './connect/api.ts';
import { withKeys } from './connect/storage.ts';
import { contractNotes } from './contract-notes.ts';
import { costNotes } from './cost-notes.ts';
import { type OutputOptions, print } from './output.ts';
import type { Terminal } from './terminal.ts';

/** Throws an expected error with every mistake. */
export async function check(
  terminal: Terminal,
  options: OutputOptions,
): Promise<void> {
  const config = loadConfig(terminal);
  const { contract, versions, unsupported, redis } = await checkConfig(
    terminal,
    config,
  );
  print(
    terminal,
    options,
    {
      plans: [...config.plans.plans.keys()],
      openapi: versions.join(', '),
      operations: contract.operations.length,
      notEnforced: unsupported.length,
      ...scopesIn(contract),
      limits: contract.windows.map(formatLimit),
      redis: redis?.status ?? null,
    },
    (
      {
        plans,
        openapi,
        operations,
        notEnforced,
        needScopes,
        scopes,
        limits,
        redis,
      },
      page,
    ) => {
      const but = notEnforced === 0 ? '' : `, ${notEnforced} not enforced`;
      const described = `${plural(operations, 'operation')}${but} (OpenAPI ${openapi})`;
      return page.notes(
        `OK: ${plural(plans.length, 'plan')}, ${versions.length > 0 ? described : 'no contract'}.`,
        ...(redis === 'unreachable'
          ? ['Not checked: Redis. It is unreachable.']
          : []),
        ...(needScopes === 0
          ? []
          : [
              `${plural(needScopes, 'operation needs', 'operations need')} scopes: ${scopes.join(', ')}.`,
            ]),
        ...(limits.length === 0
          ? []
          : [`Limits of the contract: ${limits.map(limitText).join(', ')}.`]),
      );
    },
  );
}

/** Prints notes. Throws an expected error with every mistake. */
export async function checkConfig(
  terminal: Pick<Terminal, 'err' | 'stop'>,
  config: Config,
) {
  const note = (text: string) => terminal.err(`note: ${text}\n`);
  warningsOf(readCertificates(config), Date.now()).forEach(note);
  const apis = await readContracts(config, terminal.stop, note);
  const contract = contractsOf(apis);
  refuseMistakes(apis, config);
  for (const one of apis) {
    // Nothing has its requests.
    if (one.api.backends === null && one.api.target === null) continue;
    const of = apis.length === 1 ? '' : `the API ${one.api.name}: `;
    const notes = [
      contractNotes,
      hiddenOperations,
      displacedUsage,
      bodyLimitNotes,
      targetNotes,
      costNotes,
    ].flatMap((notesOn) => notesOn(one.api, one.contract));
    for (const text of [...notes, ...pathNotes(config, one)]) note(of + text);
  }
  workerNotes(config).forEach(note);
  const versions = apis
    .filter(({ api }) => api.contract.file !== NO_CONTRACT)
    .map((one) => String(one.contract.document.openapi));
  const unsupported = formatExempted(contract.exempted);
  for (const line of unsupported) terminal.err(`not enforced: ${line}\n`);
  checkFolder(config, note);
  missingPlans(config).forEach(note);
  const redis = await checkRedis(config);
  redis?.notes.forEach(note);
  return { apis, contract, versions, unsupported, redis };
}

/** Notes are printed even if a contract has mistakes. */
async function readContracts(
  config: Config,
  stop: AbortSignal,
  note: (text: string) => void,
): Promise<readonly ActiveApi[]> {
  const print = (notes: readonly Problem[]) =>
    formatProblems(notes, 1).forEach(note);
  try {
    const { apis } = await loadUntil(stop, config);
    for (const { copy, prepared } of apis) {
      if (copy) note(copyNote(copy));
      print(prepared.notes);
    }
    return apis;
  } catch (error) {
    if (error instanceof ContractError) print(error.notes);
    if (error instanceof LoadingEnded)
      throw new CommandError(STOPPED, { failure: 'failed' });
    throw error;
  }
}

/** A large contract in another process, because reading blocks and this process must notice signals. */
async function loadUntil(stop: AbortSignal, { apis, data }: Config) {
  const loader = new ContractLoader();
  const close = () => loader.close();
  stop.addEventListener('abort', close);
  try {
    if (stop.aborted) close();
    return await loadAll(apis, (api) => loader.loadFirst({ ...api, data }));
  } finally {
    stop.removeEventListener('abort', close);
  }
}

const STOPPED =
  'The check was stopped before the contract was read. Run it again.';

const copyNote = ({ url, at, reason }: CopyInUse): string =>
  `${url} ${reason}; a start uses the copy from ${new Date(at).toISOString()}`;

function scopesIn({ operations }: Contracts): {
  needScopes: number;
  scopes: string[];
} {
  const needing = operations.filter(
    ({ requiredScopes }) => requiredScopes.length > 0,
  );
  return {
    needScopes: needing.length,
    scopes: [
      ...new Set(needing.flatMap(({ requiredScopes }) => requiredScopes)),
    ].sort(),
  };
}

/** All backends of an upstream get the same path. */
function pathNotes(
  { upstream, upstreams }: Config,
  { api, contract: { prefixes, operations } }: ActiveApi,
): string[] {
  const used = new Set(
    operations.map((operation) => operation.upstream ?? api.backends),
  );
  const all = Object.entries({
    [DEFAULT_UPSTREAM]: upstream,
    ...upstreams,
  }).filter(([name]) => used.has(name));
  return all.flatMap(([name, { backends }]) =>
    prefixes.flatMap((prefix) => {
      const ending = backends
        .map(({ url }) => url)
        .filter((url) => endsWithPath(url, prefix));
      if (ending.length === 0 || ending.length === backends.length) return [];
      return [
        `upstream ${name}: ${ending.join(' and ')} gets ${prefix} twice, because other backends do not end with it`,
      ];
    }),
  );
}

/** docs/failure-modes.md compares targets and upstreams. */
function targetNotes({ target }: Api): string[] {
  return target === null
    ? []
    : [
        'a target has no health checks, retries or limit of connections, joins repeated fields, and accepts response heads of up to 16 KiB; set upstream to have all of them',
      ];
}

/** Concurrency limits apply per worker. */
function workerNotes({
  workers,
  plans: { plans, concurrencies = new Map() },
}: Config): string[] {
  if (workers < 2) return [];
  const some = [...plans.values()].flatMap(({ name, concurrency }) =>
    concurrency ? [[name, concurrency] as const] : [],
  );
  return [...some, ...concurrencies].map(
    ([name, most]) =>
      `${name}: concurrency ${most} applies to each of ${workers} workers, up to ${workers * most} in all`,
  );
}

/** As at a start. Throws an expected error about a folder that no gateway starts on. */
function checkFolder(
  { redis, data }: Config,
  note: (text: string) => void,
): void {
  if (redis !== null) return;
  const db = readStateIfAny(data);
  try {
    if (db !== null) readCounters(data, db, note);
  } finally {
    db?.close();
  }
  const unwritable = ['.', 'gateway.lock', 'state.db', 'counters.db']
    .map((name) => existing(join(data, name)))
    .find((path) => !isWritable(path));
  if (unwritable !== undefined)
    note(`${unwritable} is not writable for this user; a start needs that`);
}

/** The path, or the nearest folder that exists. */
const existing = (path: string): string =>
  existsSync(path) ? path : existing(dirname(path));

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

interface RedisCheck {
  readonly status: 'usable' | 'unreachable';
  readonly notes: readonly string[];
}

/**
 * As at a start: an unreachable Redis is not a mistake. Throws RedisError for every other fault,
 * such as a password.
 */
async function checkRedis(config: Config): Promise<RedisCheck | null> {
  if (config.redis === null) return null;
  const hasKeys = peekKeys(config.data, 1).count > 0;
  try {
    const { warningsAbout } = await import(
      '../records/redis/command-checks.ts'
    );
    const warnings = await warningsAbout(config.redis);
    const unmigratedKeys = hasKeys
      ? await withKeys(config, (keys) => findUnmigratedKeys(config, keys))
      : null;
    const notes =
      unmigratedKeys === null
        ? warnings
        : [...warnings, unmigratedKeysText(unmigratedKeys)];
    return { status: 'usable', notes };
  } catch (error) {
    const isUnreachable =
      error instanceof Outage ||
      (error instanceof RedisError && error.isUnreachable);
    if (!isUnreachable) throw error;
    const reason =
      error instanceof Outage ? 'Redis does not respond' : error.message;
    const keys = hasKeys
      ? `${config.data} has keys that may be missing in Redis: `
      : '';
    return {
      status: 'unreachable',
      notes: [
        `${keys}${reason}; a start needs Redis, or the key cache of an earlier run`,
      ],
    };
  }
}
