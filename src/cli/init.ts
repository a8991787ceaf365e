import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { plural } from '@storegate/admin-api/text';
import { ContractError } from '@storegate/openapi';
import { keyField } from '../common/key-headers.ts';
import { USAGE_PATH } from '../common/reserved-paths.ts';
import type { Config } from '../config/config.ts';
import { type Contract, loadContract } from '../config/contract/contract.ts';
import { isFile, isRemote, NO_CONTRACT } from '../config/contract/place.ts';
import { namesBackends } from '../config/describe.ts';
import { loadConfig } from '../config/load.ts';
import { isHttpUrl } from '../config/schema/formats.ts';
import { createKey } from '../records/keys/manage.ts';
import { fetchContract } from '../run/contracts/remote.ts';
import { tuneEngine } from '../run/engine.ts';
import { CommandError } from './connect/api.ts';
import { withKeys } from './connect/storage.ts';
import { editBy } from './demo.ts';
import {
  gatewayFile,
  plansFile,
  type ReadDocument,
  type RequestTreatment,
} from './init-files.ts';
import { firstSample } from './sample-requests.ts';
import { runUntilStopped, withOrigin } from './serve.ts';
import type { Terminal } from './terminal.ts';

interface InitOptions {
  readonly backend?: string;
  /** A file, a URL, or `none`. */
  readonly contract?: string;
  /** `enforce` or `report`. */
  readonly requests?: string;
  readonly directory?: string;
  readonly yes?: boolean;
  readonly start: boolean;
}

/** The files that init writes win over these variables. */
const WRITTEN = {
  STOREGATE_CONFIG: 'gateway.yaml',
  STOREGATE_CONTRACT: '',
  STOREGATE_PLANS: '',
  BACKEND_URL: '',
};

/** Milliseconds. */
const TIMEOUT = 10_000;

/**
 * Writes settings and plans for an API, makes a key, runs the gateway until a signal, and sends one
 * request through it. Changes nothing if the backend does not respond or the contract cannot be
 * used.
 */
export async function init(
  terminal: Terminal,
  options: InitOptions,
): Promise<void> {
  const folder = resolve(terminal.cwd, options.directory ?? '.');
  refuseExisting(folder);
  const backend = await backendFrom(terminal, options);
  const place = await contractFrom(terminal, options);
  const status = await statusOf(backend);
  print(terminal, 'Backend', `${backend} responds (GET /: ${status})`);
  const document = await documentAt(place, terminal.cwd);
  print(terminal, 'Contract', describe(document.contract, place));
  const requests =
    place === NO_CONTRACT ? 'enforce' : await requestsFrom(terminal, options);

  const file = isFile(place)
    ? relative(folder, resolve(terminal.cwd, place))
    : place;
  const load = () =>
    loadConfig({ cwd: folder, env: { ...terminal.env, ...WRITTEN } });
  const config = await writeFiles(
    folder,
    load,
    gatewayFile(backend, file, { ...document, requests }),
  );
  print(terminal, 'Written', `gateway.yaml, plans.yaml in ${folder}`);
  const key = await makeKey(config);
  print(terminal, 'Key', `${key} (plan free, account me; shown only once)`);
  if (options.start) await runGateway(terminal, config, load, key);
  else print(terminal, 'Next', 'npx storegate serve');
}

const print = (terminal: Terminal, name: string, text: string) =>
  terminal.out(`${name.padEnd(9)} ${text}\n`);

function refuseExisting(folder: string): void {
  for (const name of ['gateway.yaml', 'plans.yaml']) {
    const file = join(folder, name);
    if (existsSync(file))
      throw new CommandError(
        `${file} exists, and init overwrites no file. Choose another --directory.`,
      );
  }
}

async function backendFrom(
  { ask }: Terminal,
  { backend, yes }: InitOptions,
): Promise<string> {
  const input =
    backend ??
    (yes
      ? undefined
      : await ask?.('URL of your API, such as http://127.0.0.1:3000: '));
  if (input === undefined)
    throw new CommandError('--backend is missing: the URL of your API', {
      failure: 'usage',
    });
  const url = input.trim();
  if (!isHttpUrl(url)) {
    const form = 'an http or https URL without credentials, query and fragment';
    throw new CommandError(
      `--backend must be ${form}, such as http://127.0.0.1:3000`,
      {
        failure: 'usage',
      },
    );
  }
  return url.replace(/\/+$/, '');
}

async function contractFrom(
  { ask }: Terminal,
  { contract, yes }: InitOptions,
): Promise<string> {
  const question =
    'OpenAPI document, a file or URL (none: requests are not validated): ';
  const input = contract ?? (yes ? undefined : await ask?.(question));
  if (input === undefined || input.trim() === '')
    throw new CommandError('--contract is missing: a file, a URL, or none', {
      failure: 'usage',
    });
  const place = input.trim();
  if (!isRemote(place) || isHttpUrl(place)) return place;
  throw new CommandError(
    '--contract must be a file, none, or a URL without credentials, query and fragment',
    {
      failure: 'usage',
    },
  );
}

/** Not asked beside a contract that was given as an option. */
async function requestsFrom(
  { ask }: Terminal,
  { requests, contract, yes }: InitOptions,
): Promise<RequestTreatment> {
  const question =
    'Requests that violate the contract: enforce refuses them, report only logs them [enforce]: ';
  const input =
    requests ??
    (yes || contract !== undefined ? undefined : await ask?.(question));
  const treatment = input?.trim() || 'enforce';
  if (treatment === 'enforce' || treatment === 'report') return treatment;
  throw new CommandError('--requests must be enforce or report', {
    failure: 'usage',
  });
}

/** The status of `GET /`. Any response shows that the backend can be reached. */
async function statusOf(backend: string): Promise<number> {
  const response = await respond(`${backend}/`);
  if (typeof response !== 'string') return response.status;
  throw new CommandError(
    `${backend} does not respond (${response}). Start your API, or correct --backend.`,
  );
}

/** Without the body; the reason without a response. */
async function respond(
  url: string,
  init: RequestInit = {},
): Promise<Response | string> {
  try {
    const response = await fetch(url, {
      ...init,
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT),
    });
    await response.body?.cancel();
    return response;
  } catch (error) {
    const { name, cause } = error as Error;
    const { code, message = name } = Object(
      cause,
    ) as Partial<NodeJS.ErrnoException>;
    return code ?? message;
  }
}

async function documentAt(
  place: string,
  cwd: string,
): Promise<ReadDocument & { readonly contract: Contract }> {
  const file = isFile(place) ? resolve(cwd, place) : place;
  if (isFile(place) && !existsSync(file))
    throw new CommandError(`${file} does not exist. Correct --contract.`);
  const text = isRemote(place) ? (await fetchContract(place)).text : undefined;
  // As the gateway reads it by default.
  const reading = { text, responses: 'off' } as const;
  try {
    return { contract: loadContract(file, reading), onUnsupported: 'refuse' };
  } catch (error) {
    if (!(error instanceof ContractError)) throw error;
    try {
      return {
        contract: loadContract(file, { ...reading, onUnsupported: 'pass' }),
        onUnsupported: 'pass',
      };
    } catch (worse) {
      throw worse instanceof ContractError ? error : worse;
    }
  }
}

function describe(
  { title, version, operations, exempted }: Contract,
  place: string,
): string {
  if (place === NO_CONTRACT)
    return `none: every path but ${USAGE_PATH} is forwarded, and requests are not validated`;
  const open = operations.filter(({ isPublic }) => isPublic).length;
  const all =
    `${title} ${version}, ${plural(operations.length, 'operation')}`.replace(
      /\s+/g,
      ' ',
    );
  return [
    all,
    open > 0 ? `${open} without a key` : '',
    exempted.length > 0 ? `${exempted.length} not validated` : '',
  ]
    .filter((part) => part !== '')
    .join(', ');
}

/** The configuration of the new files. If it cannot be used, no file stays. */
async function writeFiles(
  folder: string,
  load: () => Config,
  settings: string,
): Promise<Config> {
  const files = { 'gateway.yaml': settings, 'plans.yaml': plansFile() };
  const written: string[] = [];
  try {
    await mkdir(folder, { recursive: true });
    for (const [name, text] of Object.entries(files)) {
      await writeFile(join(folder, name), text, { flag: 'wx', flush: true });
      written.push(join(folder, name));
    }
    return load();
  } catch (error) {
    for (const file of written) await rm(file);
    const { code, path } = error as NodeJS.ErrnoException;
    throw code === undefined
      ? error
      : new CommandError(`${path ?? folder} cannot be written (${code}).`);
  }
}

function makeKey(config: Config): Promise<string> {
  const draft = {
    account: 'me',
    plan: 'free',
    label: 'made by storegate init',
    env: 'live',
  };
  return withKeys(config, async (store) => {
    const { secret } = await createKey(
      editBy('storegate init', store),
      config.plans,
      draft,
    );
    return secret;
  });
}

async function runGateway(
  terminal: Terminal,
  config: Config,
  load: () => Config,
  key: string,
): Promise<void> {
  if (!namesBackends(config))
    throw new TypeError('the settings name a backend');
  tuneEngine();
  try {
    await runUntilStopped(
      terminal,
      { config, load },
      async ({ apis }, { url, adminUrl }) => {
        const { contract } = apis[0]!;
        print(terminal, 'Running', `${url}, console ${adminUrl}/console/`);
        await tryOnce(terminal, url, contract, {
          place: config.contract.file,
          field: keyField(config.keys.headers ?? contract.keyHeaders, key),
        });
        terminal.out(
          'Press Ctrl-C to stop. To start it again in this folder: npx storegate serve\n',
        );
      },
    );
  } catch (error) {
    terminal.err(
      'The files are written. To start the gateway: npx storegate serve\n',
    );
    throw withOrigin(error, config);
  }
}

/** Sends one request through the gateway, if the contract has one without a body. */
async function tryOnce(
  terminal: Terminal,
  url: string,
  contract: Contract,
  {
    place,
    field: [name, value],
  }: { readonly place: string; readonly field: ReturnType<typeof keyField> },
): Promise<void> {
  const path =
    place === NO_CONTRACT ? '/' : (firstSample(contract)?.path ?? null);
  if (path === null) {
    const [first] = contract.operations;
    const what = first
      ? `${first.method} ${contract.prefixes[0]}${first.path}`
      : 'an operation';
    print(terminal, 'Try', `${what} with -H '${name}: ${value}'`);
    return;
  }
  print(terminal, 'Try', `curl -i '${url}${path}' -H '${name}: ${value}'`);
  const response = await respond(url + path, { headers: { [name]: value } });
  if (typeof response === 'string') {
    print(terminal, 'Response', `none (${response})`);
    return;
  }
  const [limit, remaining] = ['limit', 'remaining'].map((one) =>
    response.headers.get(`x-ratelimit-${one}`),
  );
  print(
    terminal,
    'Response',
    `GET ${path}: ${response.status} ${response.statusText}, ${remaining} of ${limit} requests left`,
  );
  if (response.status !== 401) return;
  print(
    terminal,
    '',
    'The 401 comes from your API: send its own token as well, such as -H "Authorization: Bearer …".',
  );
}
