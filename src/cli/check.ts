import { plural } from '@storegate/console/words';
import { ContractError, formatExempted, formatProblems, type Problem } from '@storegate/openapi';
import { readCertificates, warningsOf } from '../config/certificates.ts';
import type { Config } from '../config/config.ts';
import { loadContract, type ReadContract } from '../config/contract/contract.ts';
import { isRemote } from '../config/contract/place.ts';
import { loadConfig } from '../config/load.ts';
import { formatLimit } from '../config/windows.ts';
import { Outage } from '../errors/outage.ts';
import { fetchContract } from '../run/contracts/remote.ts';
import { findUnmigratedKeys, unmigratedKeysText } from '../run/unmigrated-keys.ts';
import { refuseUnknownUpstreams } from '../run/upstream-names.ts';
import { peekKeys } from '../state/embedded/peek.ts';
import { RedisError } from '../state/redis/error.ts';
import { contractNotes } from './contract-notes.ts';
import { type OutputOptions, print } from './output.ts';
import type { Terminal } from './terminal.ts';
import { withKeys } from './with-keystore.ts';

/** Throws an expected error with every mistake. */
export async function check(terminal: Terminal, options: OutputOptions): Promise<void> {
  const note = (text: string) => terminal.err(`note: ${text}\n`);
  const config = loadConfig(terminal);
  warningsOf(readCertificates(config), Date.now()).forEach(note);
  const contract = await readContract(config, note);
  refuseUnknownUpstreams(contract, config);
  [...contractNotes(config, contract), ...bodyLimitNotes(config, contract), ...workerNotes(config)].forEach(note);
  const unsupported = formatExempted(contract.exempted);
  for (const line of unsupported) terminal.err(`not enforced: ${line}\n`);
  const left = await unmigratedNote(config);
  if (left !== null) note(left);
  await print(
    terminal,
    options,
    {
      plans: [...config.plans.plans.keys()],
      openapi: contract.document.openapi,
      operations: contract.operations.length,
      notEnforced: unsupported.length,
      ...scopesIn(contract),
      limits: contract.windows.map(formatLimit),
    },
    {
      text({ plans, openapi, operations, notEnforced, needScopes, scopes, limits }, page) {
        const but = notEnforced === 0 ? '' : `, ${notEnforced} not enforced`;
        return page.notes(
          `OK: ${plural(plans.length, 'plan')}, ${plural(operations, 'operation')}${but} (OpenAPI ${openapi}).`,
          ...(needScopes === 0
            ? []
            : [`${plural(needScopes, 'operation needs', 'operations need')} scopes: ${scopes.join(', ')}.`]),
          ...(limits.length === 0 ? [] : [`Limits of the contract: ${limits.join(', ')}.`]),
        );
      },
    },
  );
}

/** Notes are printed even if the contract has mistakes. */
async function readContract(config: Config, note: (text: string) => void): Promise<ReadContract> {
  const { file, ...reading } = config.contract;
  const print = (notes: readonly Problem[]) => formatProblems(notes, 1).forEach(note);
  try {
    const text = isRemote(file) ? { text: (await fetchContract(file)).text } : {};
    const contract = loadContract(file, { ...reading, ...text });
    print(contract.notes);
    return contract;
  } catch (error) {
    if (error instanceof ContractError) print(error.notes);
    throw error;
  }
}

function scopesIn({ operations }: ReadContract): { needScopes: number; scopes: string[] } {
  const needing = operations.filter(({ requiredScopes }) => requiredScopes.length > 0);
  return {
    needScopes: needing.length,
    scopes: [...new Set(needing.flatMap(({ requiredScopes }) => requiredScopes))].sort(),
  };
}

/** The setting wins over the limit of an operation. */
function bodyLimitNotes({ http }: Config, { operations }: ReadContract): string[] {
  return operations
    .filter(({ maxBodyBytes }) => (maxBodyBytes ?? 0) > http.maxBodyBytes)
    .map(
      ({ id, method, path, maxBodyBytes }) =>
        `${id} (${method} ${path}): x-max-body-bytes ${maxBodyBytes} is above http.maxBodyBytes, ${http.maxBodyBytes} applies`,
    );
}

/** Concurrency limits apply per worker. */
function workerNotes({ workers, plans: { plans, concurrencies = new Map() } }: Config): string[] {
  if (workers < 2) return [];
  const some = [...plans.values()].flatMap(({ name, concurrency }) =>
    concurrency ? [[name, concurrency] as const] : [],
  );
  return [...some, ...concurrencies].map(
    ([name, most]) =>
      `${name}: concurrency ${most} applies to each of ${workers} workers, up to ${workers * most} in all`,
  );
}

/** Calls Redis only if the data folder has keys. An outage of Redis is not a mistake in the files. */
async function unmigratedNote(config: Config): Promise<string | null> {
  if (config.redis === null || peekKeys(config.data, 1).count === 0) return null;
  try {
    const unmigratedKeys = await withKeys(config, (keys) => findUnmigratedKeys(config, keys));
    return unmigratedKeys && unmigratedKeysText(unmigratedKeys);
  } catch (error) {
    if (!(error instanceof RedisError || error instanceof Outage)) throw error;
    const reason = error instanceof Outage ? 'Redis does not respond' : error.message;
    return `${config.data} has keys that may be missing in Redis: ${reason}`;
  }
}
