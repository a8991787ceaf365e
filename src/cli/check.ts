import { ContractError, formatExempted, formatProblems, type Problem } from '@storegate/openapi';
import { readCertificates, warningsOf } from '../config/certificates.ts';
import type { Config } from '../config/config.ts';
import { loadContract, type ReadContract } from '../config/contract/contract.ts';
import { loadConfig } from '../config/load.ts';
import { formatLimit } from '../config/windows.ts';
import { Outage } from '../errors/outage.ts';
import { findUnmigratedKeys, unmigratedKeysText } from '../run/unmigrated-keys.ts';
import { refuseUnknownUpstreams } from '../run/upstream-names.ts';
import { peekKeys } from '../state/embedded/peek.ts';
import { RedisError } from '../state/redis/error.ts';
import type { Terminal } from './terminal.ts';
import { withKeys } from './with-keystore.ts';

/**
 * Checks configuration, plans and contract as `serve` would read them. Throws an expected error that has every mistake. Notes what
 * is no mistake of theirs, such as keys that were left behind.
 */
export async function check(terminal: Terminal): Promise<void> {
  const config = loadConfig(terminal);
  for (const warning of warningsOf(readCertificates(config), Date.now())) terminal.err(`note: ${warning}\n`);
  const contract = readContract(config, terminal);
  refuseUnknownUpstreams(contract, config);
  for (const note of overBodyLimit(config, contract)) terminal.err(`note: ${note}\n`);
  for (const note of countedByEach(config)) terminal.err(`note: ${note}\n`);
  const exempted = formatExempted(contract.exempted);
  for (const line of exempted) terminal.err(`lenient: ${line}\n`);
  const left = await warnOfUnmigratedKeys(config);
  if (left !== null) terminal.err(`note: ${left}\n`);
  const { plans } = config.plans;
  const but = exempted.length === 0 ? '' : `, but ${exempted.length} are not enforced`;
  const version = `OpenAPI ${contract.document.openapi}`;
  const all = `${plans.size} plans, ${contract.operations.length} operations${but} (${version})`;
  terminal.out(`All is well: ${all}.\n${scopesNeeded(contract)}${limitsHeld(contract)}`);
}

/** Tells the notes of the contract, also if it has mistakes. */
function readContract({ contract: { file, ...reading } }: Config, terminal: Terminal): ReadContract {
  const tell = (notes: readonly Problem[]) => {
    for (const note of formatProblems(notes, 1)) terminal.err(`note: ${note}\n`);
  };
  try {
    const contract = loadContract(file, reading);
    tell(contract.notes);
    return contract;
  } catch (error) {
    if (error instanceof ContractError) tell(error.notes);
    throw error;
  }
}

/** Tells the limits of operations and tags; empty if there are none. */
function limitsHeld({ windows }: ReadContract): string {
  return windows.length === 0 ? '' : `Limits beside those of plans: ${windows.map(formatLimit).join(', ')}.\n`;
}

/** Tells what keys may need, to compare with the scopes that they have; empty if no operation needs any. */
function scopesNeeded({ operations }: ReadContract): string {
  const needing = operations.filter(({ requiredScopes }) => requiredScopes.length > 0);
  if (needing.length === 0) return '';
  const scopes = [...new Set(needing.flatMap(({ requiredScopes }) => requiredScopes))].sort();
  return `${needing.length === 1 ? '1 operation needs' : `${needing.length} operations need`} scopes: ${scopes.join(', ')}.\n`;
}

/** Operations whose own limit of a body is above that of the door. The contract does not know the settings. */
function overBodyLimit({ http: door }: Config, { operations }: ReadContract): string[] {
  return operations
    .filter(({ maxBodyBytes }) => (maxBodyBytes ?? 0) > door.maxBodyBytes)
    .map(
      ({ id, method, path, maxBodyBytes }) =>
        `${id} (${method} ${path}): x-max-body-bytes is ${maxBodyBytes}, but http.maxBodyBytes is less and holds: ${door.maxBodyBytes} bytes`,
    );
}

/** What plans say of requests in flight holds for each worker. */
function countedByEach({ workers, plans: { plans, concurrencies = new Map() } }: Config): string[] {
  if (workers < 2) return [];
  const some = [...plans.values()].flatMap(({ name, concurrency }) =>
    concurrency ? [[name, concurrency] as const] : [],
  );
  return [...some, ...concurrencies].map(
    ([name, most]) =>
      `${name}: each of ${workers} workers counts requests in flight by itself, so concurrency: ${most} lets up to ${workers * most} be`,
  );
}

/** Asks Redis only if the data folder has keys. A Redis that is away is no mistake of the configuration. */
async function warnOfUnmigratedKeys(config: Config): Promise<string | null> {
  if (config.redis === null || peekKeys(config.data, 1).count === 0) return null;
  try {
    const unmigratedKeys = await withKeys(config, (keys) => findUnmigratedKeys(config, keys));
    return unmigratedKeys && unmigratedKeysText(unmigratedKeys);
  } catch (error) {
    if (!(error instanceof RedisError || error instanceof Outage)) throw error;
    const reason = error instanceof Outage ? 'Redis does not answer' : error.message;
    return `${config.data} has keys, and nobody can say whether Redis knows them: ${reason}`;
  }
}
