import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { headersOf, type Sent } from '@storegate/admin-api';
import { ContractError } from '@storegate/openapi';
import { AdminError } from '../../admin/admin-error.ts';
import { adminContract, createAdminApi } from '../../admin/api.ts';
import type { AdminResponse } from '../../admin/call.ts';
import type { AdminContext } from '../../admin/context.ts';
import { prefixOf } from '../../config/apis.ts';
import type { Api, Config } from '../../config/config.ts';
import {
  type Contract,
  type Contracts,
  loadContract,
} from '../../config/contract/contract.ts';
import { isRemote } from '../../config/contract/place.ts';
import { shellUser } from '../../records/operators/shell-user.ts';
import { contractsOf } from '../../run/apis.ts';
import { readCopy } from '../../run/contracts/remote.ts';
import { webhookAdminOf } from '../../run/webhooks.ts';
import { CommandError, type Connection, failureOf, queryOf } from './api.ts';
import { openStorage } from './storage.ts';

/**
 * For commands without a gateway that they can reach; `load` returns sections that are checked when
 * they are read. Throws its ConfigError.
 */
export async function connectLocally(load: () => Config): Promise<Connection> {
  let config = load();
  let served: Contracts | null = null;
  const contract = adminContract();
  const storage = await openStorage(config);
  const webhookAdmin = webhookAdminOf({
    config,
    gateway: hostname(),
    outbox: storage.outbox,
    clock: Date.now,
  });
  function refuseWithoutGateway(): never {
    storage.refuseRunning();
    throw new AdminError(
      'not_running',
      `No gateway is found in ${config.data}. Use --url or STOREGATE_ADMIN_URL, and STOREGATE_ADMIN_TOKEN if it has a token.`,
    );
  }
  const context: AdminContext = {
    ...storage.records,
    uses: { lastUsed: async (ids) => storage.records.uses.load(ids) },
    state: storage.state,
    peers: storage.peers,
    ledger: storage.ledger,
    // A running gateway may have other webhook variables than this shell.
    async webhooks() {
      storage.refuseRunning();
      return await webhookAdmin();
    },
    config: () => config,
    plans: () => config.plans,
    contract() {
      // First: with a running gateway, the contract is not needed here.
      storage.state();
      served ??= contractOf(config);
      return served;
    },
    // With `around`, an operator asks for a reload of the running gateway.
    async reload(_reason, around) {
      if (around) refuseWithoutGateway();
      config = load();
      served = null;
      return { changed: [], needRestart: [], copy: null };
    },
    compare: async () => refuseWithoutGateway(),
    clock: Date.now,
  };
  const api = createAdminApi(context, contract);
  const operator = { name: shellUser(), role: 'admin' } as const;

  async function ask(
    method: string,
    path: string,
    sent: Sent,
  ): Promise<AdminResponse> {
    const { query, body } = sent;
    return await api.call({
      id: randomUUID(),
      operator,
      method,
      path,
      query: queryOf(path, query),
      headers: Object.entries(headersOf(sent)).flat(),
      body: body === undefined ? null : Buffer.from(JSON.stringify(body)),
    });
  }

  return {
    call: (method, path, sent = {}) =>
      asCommand(async () => jsonOf(await ask(method, path, sent))),
    download: (path, query, write) =>
      asCommand(async () => {
        const { stream, headers = {} } = await ask('GET', path, { query });
        for await (const part of stream!.text) write(part);
        return Object.fromEntries(
          Object.entries(headers).map(([name, value]) => [
            name.toLowerCase(),
            value,
          ]),
        );
      }),
    async close() {
      await api.close();
      await storage.close();
    },
  };
}

/** As over HTTP. */
async function jsonOf({ body, stream }: AdminResponse): Promise<unknown> {
  if (!stream) return JSON.parse(JSON.stringify(body));
  return JSON.parse((await Array.fromAsync(stream.text)).join(''));
}

/** A change of counters without the windows of the contracts would lose their values. */
function contractOf({ apis, data }: Config): Contracts {
  try {
    return contractsOf(
      apis.map((api) => ({ api, contract: readContract(api, data) })),
    );
  } catch (error) {
    if (!(error instanceof ContractError)) throw error;
    throw new AdminError(
      'configuration_unfit',
      `The contract is invalid: ${error.message}`,
    );
  }
}

function readContract(api: Api, data: string): Contract {
  const { file, ...reading } = api.contract;
  const copy = isRemote(file) ? readCopy(data, file) : null;
  if (isRemote(file) && copy === null)
    throw new AdminError(
      'configuration_unfit',
      `No gateway has fetched the contract ${file} into ${data} yet.`,
    );
  return loadContract(
    file,
    { ...reading, text: copy?.text },
    api.namedBy,
    prefixOf(api),
  );
}

/** Rejects with CommandError in place of AdminError. */
async function asCommand<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof AdminError)) throw error;
    const { code, status, details: faults, message } = error;
    const failure = code === 'gateway_running' ? 'shut' : failureOf(status);
    throw new CommandError(message, { failure, faults, cause: error });
  }
}
