import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { headersOf, type Sent } from '@storegate/admin-api';
import { ContractError } from '@storegate/openapi';
import { AdminError } from '../../admin/admin-error.ts';
import { type AdminApi, adminContract, createAdminApi } from '../../admin/api.ts';
import type { AdminAnswer, Follow } from '../../admin/call.ts';
import type { AdminContext } from '../../admin/context.ts';
import type { FetchTls } from '../../common/https-fetch.ts';
import type { Config } from '../../config/config.ts';
import { type Contract, loadContract } from '../../config/contract/contract.ts';
import { isRemote } from '../../config/contract/place.ts';
import { contractSource } from '../../config/describe.ts';
import { shellUser } from '../../records/operators/shell-user.ts';
import type { Operator } from '../../records/operators/tokens.ts';
import { readCopy } from '../../run/contracts/remote.ts';
import { webhookAdminOf } from '../../run/webhooks.ts';
import { announcedIn } from '../../state/embedded/lock.ts';
import { untilStopped } from '../terminal.ts';
import { CommandError, type Connection, failureOf, queryOf } from './api.ts';
import { connectOverHttp } from './http.ts';
import { openStorage } from './storage.ts';

/** `tls`: for a gateway that runs on the same folder. */
export async function connectLocally(
  load: () => Config,
  tls: FetchTls | null = null,
): Promise<Connection> {
  let config = load();
  let served: Contract | null = null;
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
      'No gateway is running here. Use --url or STOREGATE_ADMIN_URL.',
    );
  }
  const context: AdminContext = {
    ...storage.records,
    uses: { lastUsed: async (ids) => await storage.records.uses.load(ids) },
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

  async function hereOrThere<T>(
    here: () => Promise<T>,
    there: (running: Connection) => Promise<T>,
  ): Promise<T> {
    try {
      return await here();
    } catch (error) {
      if (!(error instanceof AdminError)) throw error;
      const isRunning = error.code === 'gateway_running';
      const failure = isRunning ? 'shut' : failureOf(error.status);
      const refused = new CommandError(error.message, {
        failure,
        faults: error.details,
        cause: error,
      });
      if (!isRunning) throw refused;
      return await askRunning(config, { operator, tls, refused }, there);
    }
  }

  return {
    call: (method, path, sent = {}) =>
      hereOrThere(
        // Only JSON values, as over HTTP.
        async () => jsonOf(await ask(api, operator, method, path, sent)),
        (running) => running.call(method, path, sent),
      ),
    follow: (path, query, onEvent, stop) =>
      hereOrThere(
        async () =>
          await listen((await ask(api, operator, 'GET', path, { query })).follow!, onEvent, stop),
        (running) => running.follow(path, query, onEvent, stop),
      ),
    download: (path, query, write) =>
      hereOrThere(
        async () => {
          const { stream, headers = {} } = await ask(api, operator, 'GET', path, { query });
          for await (const part of stream!.text) write(part);
          return Object.fromEntries(
            Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
          );
        },
        (running) => running.download(path, query, write),
      ),
    async close() {
      await api.close();
      await storage.close();
    },
  };
}

/** As over HTTP. */
async function jsonOf({ body, stream }: AdminAnswer): Promise<unknown> {
  if (!stream) return JSON.parse(JSON.stringify(body));
  return JSON.parse((await Array.fromAsync(stream.text)).join(''));
}

/** A change of counters without the windows of the contract would lose their values. */
function contractOf(config: Config): Contract {
  const { contract, data } = config;
  const { file, ...reading } = contract;
  try {
    const copy = isRemote(file) ? readCopy(data, file) : null;
    if (isRemote(file) && copy === null)
      throw new AdminError(
        'configuration_unfit',
        `No gateway has fetched the contract ${file} into ${data} yet.`,
      );
    return loadContract(file, { ...reading, text: copy?.text }, contractSource(config));
  } catch (error) {
    if (!(error instanceof ContractError)) throw error;
    throw new AdminError('configuration_unfit', `The contract is invalid: ${error.message}`);
  }
}

/** Rejects with errors of the stream and of `onEvent`. */
function listen(
  follow: Follow,
  onEvent: Parameters<Connection['follow']>[2],
  stop: AbortSignal,
): Promise<void> {
  const { promise, reject } = Promise.withResolvers<void>();
  const end = follow({
    send(name, data) {
      try {
        onEvent(JSON.parse(JSON.stringify({ name, data })));
      } catch (error) {
        reject(error);
      }
      return true;
    },
    end: reject,
  });
  return Promise.race([promise, untilStopped({ stop })]).finally(end);
}

async function ask(
  api: AdminApi,
  operator: Operator,
  method: string,
  path: string,
  sent: Sent,
): Promise<AdminAnswer> {
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

/** Fails with `refused` if the gateway that has the counters is unreachable. */
async function askRunning<T>(
  config: Config,
  { operator, tls, refused }: { operator: Operator; tls: FetchTls | null; refused: CommandError },
  call: (running: Connection) => Promise<T>,
): Promise<T> {
  const announced = announcedIn(config.data);
  if (!announced) throw refused;
  // Its certificate may lack the address, so it is compared with those of the files.
  const known = announced.url.startsWith('https:') ? ownCertificates(config.admin.tls) : [];
  const running = connectOverHttp(announced.url, announced.token, {
    user: operator.name,
    tls: { ...tls, known },
  });
  try {
    return await call(running);
  } catch (error) {
    // Another machine or container may share the folder, so another service may have this address.
    throw error instanceof CommandError && error.failure === 'shut' ? refused : error;
  } finally {
    await running.close();
  }
}

function ownCertificates({ cert, certificates }: Config['admin']['tls']): string[] {
  const files = [...(cert === null ? [] : [cert]), ...certificates.map((pair) => pair.cert)];
  return files.map((file) => readFileSync(file, 'utf8'));
}
