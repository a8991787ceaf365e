import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { plural } from '@storegate/console/words';
import { ContractError, isObject } from '@storegate/openapi';
import type { Carriers } from '../common/carriers.ts';
import { ExpectedError } from '../common/expected-error.ts';
import type { Config } from '../config/config.ts';
import { type Contract, loadContract } from '../config/contract/contract.ts';
import { isFile, isRemote, NO_CONTRACT } from '../config/contract/place.ts';
import { namesStores } from '../config/describe.ts';
import { loadConfig } from '../config/load.ts';
import { isHttpUrl } from '../config/schema/formats.ts';
import { createKey } from '../keys/manage.ts';
import { fetchContract } from '../run/contracts/remote.ts';
import { CallError } from './connect/api.ts';
import { auditNoteBy } from './demo.ts';
import { type GatewayFile, gatewayFile, plansFile } from './init-files.ts';
import { withOrigin } from './origin.ts';
import { sampleRequests } from './sample-requests.ts';
import { type Terminal, untilStopped } from './terminal.ts';
import { withKeys } from './with-keystore.ts';

export interface InitOptions {
  readonly backend?: string;
  /** A file, a URL, or `none`. */
  readonly contract?: string;
  readonly directory?: string;
  readonly yes?: boolean;
  readonly start: boolean;
}

class InitError extends ExpectedError {
  override name = 'InitError';
}

/** Milliseconds for the first response of the backend. */
const BACKEND_TIMEOUT = 10_000;

/**
 * Writes settings and plans for an API, makes a key, runs the gateway until a signal, and sends one request through it.
 * Changes nothing if the backend does not respond or the contract cannot be used.
 */
export async function init(terminal: Terminal, options: InitOptions): Promise<void> {
  const folder = resolve(terminal.cwd, options.directory ?? '.');
  refuseExisting(folder);
  const backend = await backendFrom(terminal, options);
  const place = await contractFrom(terminal, options);
  const status = await statusOf(backend);
  print(terminal, 'Backend', `${backend} responds (GET /: ${status})`);
  const { contract, onUnsupported, exempted } = await contractAt(place, terminal.cwd);
  print(terminal, 'Contract', describe(contract, place, exempted));

  const file = isFile(place) ? relative(folder, resolve(terminal.cwd, place)) : place;
  const config = await writeFiles(terminal, folder, {
    ...{ backend, contract: file, onUnsupported, exempted, operations: contract.operations.length },
    keyHeader: hasOwnTokens(contract) || status === 401 ? 'X-API-Key' : null,
  });
  print(terminal, 'Written', `gateway.yaml, plans.yaml in ${folder}`);
  const key = await makeKey(config);
  print(terminal, 'Key', `${key} (plan free, account me; shown only once)`);
  if (options.start) await runGateway(terminal, folder, config, key);
  else print(terminal, 'Next', 'npx storegate serve');
}

const print = (terminal: Terminal, name: string, text: string) => terminal.out(`${name.padEnd(9)} ${text}\n`);

function refuseExisting(folder: string): void {
  for (const name of ['gateway.yaml', 'plans.yaml']) {
    const file = join(folder, name);
    if (existsSync(file))
      throw new InitError(`${file} exists, and init overwrites no file. Choose another --directory.`);
  }
}

async function backendFrom({ ask }: Terminal, { backend, yes }: InitOptions): Promise<string> {
  const asked = backend ?? (yes ? undefined : await ask?.('URL of your API, such as http://127.0.0.1:3000: '));
  if (asked === undefined) throw new CallError('--backend is missing: the URL of your API', { failure: 'usage' });
  const url = asked.trim();
  if (!isHttpUrl(url)) {
    const form = 'an http or https URL without credentials, query and fragment';
    throw new CallError(`--backend must be ${form}, such as http://127.0.0.1:3000`, { failure: 'usage' });
  }
  return url.replace(/\/+$/, '');
}

async function contractFrom({ ask }: Terminal, { contract, yes }: InitOptions): Promise<string> {
  const question = 'OpenAPI document, a file or URL (none: requests are not validated): ';
  const asked = contract ?? (yes ? undefined : await ask?.(question));
  if (asked === undefined || asked.trim() === '')
    throw new CallError('--contract is missing: a file, a URL, or none', { failure: 'usage' });
  const place = asked.trim();
  if (!isRemote(place) || isHttpUrl(place)) return place;
  throw new CallError('--contract must be a file, none, or a URL without credentials, query and fragment', {
    failure: 'usage',
  });
}

/** The status of `GET /`. Any response shows that the backend can be reached. */
async function statusOf(backend: string): Promise<number> {
  try {
    const response = await fetch(`${backend}/`, { redirect: 'manual', signal: AbortSignal.timeout(BACKEND_TIMEOUT) });
    await response.body?.cancel();
    return response.status;
  } catch (error) {
    const { name, cause } = error as Error;
    const { code, message = name } = Object(cause) as Partial<NodeJS.ErrnoException>;
    throw new InitError(`${backend} does not respond (${code ?? message}). Start your API, or correct --backend.`);
  }
}

interface Read {
  readonly contract: Contract;
  /** `pass`: parts of the document are not supported. */
  readonly onUnsupported: 'refuse' | 'pass';
  /** Operations whose requests are not validated. */
  readonly exempted: number;
}

async function contractAt(place: string, cwd: string): Promise<Read> {
  const file = isFile(place) ? resolve(cwd, place) : place;
  const text = isRemote(place) ? { text: (await fetchContract(place)).text } : {};
  // As the gateway reads it by default.
  const reading = { ...text, responses: 'off' } as const;
  try {
    return { contract: loadContract(file, reading), onUnsupported: 'refuse', exempted: 0 };
  } catch (error) {
    if (!(error instanceof ContractError)) throw error;
    const contract = orNull(() => loadContract(file, { ...reading, onUnsupported: 'pass' }));
    if (contract === null) throw error;
    return { contract, onUnsupported: 'pass', exempted: contract.exempted.length };
  }
}

function orNull<T>(work: () => T): T | null {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof ContractError)) throw error;
    return null;
  }
}

function describe({ title, version, operations }: Contract, place: string, exempted: number): string {
  if (place === NO_CONTRACT) return 'none: every path is forwarded, and requests are not validated';
  const open = operations.filter(({ isPublic }) => isPublic).length;
  const all = `${title} ${version}, ${plural(operations.length, 'operation')}`.replace(/\s+/g, ' ');
  return [all, open > 0 ? `${open} without a key` : '', exempted > 0 ? `${exempted} not validated` : '']
    .filter((part) => part !== '')
    .join(', ');
}

/** Whether the document describes credentials that are not the gateway's: they belong to the backend. */
function hasOwnTokens({ document, carriers }: Contract): boolean {
  const components = isObject(document.components) ? document.components : {};
  const schemes = Object.values(isObject(components.securitySchemes) ? components.securitySchemes : {});
  const isOurs = (scheme: unknown) => isObject(scheme) && String(scheme.name).toLowerCase() === 'x-api-key';
  return schemes.length > 0 && !(schemes.some(isOurs) && carriers.headers.length === 1);
}

/** The configuration of the new files. If it cannot be used, no file stays. */
async function writeFiles(terminal: Terminal, folder: string, settings: GatewayFile): Promise<Config> {
  const files = { 'gateway.yaml': gatewayFile(settings), 'plans.yaml': plansFile() };
  const written: string[] = [];
  try {
    await mkdir(folder, { recursive: true });
    for (const [name, text] of Object.entries(files)) {
      await writeFile(join(folder, name), text, { flag: 'wx', flush: true });
      written.push(join(folder, name));
    }
    return loadConfig({ cwd: folder, env: terminal.env });
  } catch (error) {
    for (const file of written) await rm(file);
    const { code, path } = error as NodeJS.ErrnoException;
    throw code === undefined ? error : new InitError(`${path ?? folder} cannot be written (${code}).`);
  }
}

function makeKey(config: Config): Promise<string> {
  const draft = { account: 'me', plan: 'free', label: 'made by storegate init', env: 'live' };
  return withKeys(config, async (store) => {
    const { secret } = await createKey(store, config.plans, draft, Date.now(), auditNoteBy('storegate init'));
    return secret;
  });
}

async function runGateway(terminal: Terminal, folder: string, config: Config, key: string): Promise<void> {
  const { createGateway } = await import('../run/gateway.ts');
  if (!namesStores(config)) throw new TypeError('the settings name a backend');
  try {
    const gateway = await createGateway(config, { load: () => loadConfig({ cwd: folder, env: terminal.env }) });
    const { url, adminUrl } = await gateway.start();
    print(terminal, 'Running', `${url}, console ${adminUrl}/console/`);
    await tryOnce(terminal, url, { config, contract: gateway.contract, key });
    terminal.out('Press Ctrl-C to stop. To start it again in this folder: npx storegate serve\n');
    await untilStopped(terminal);
    await gateway.stop();
  } catch (error) {
    terminal.err('The files are written. To start the gateway: npx storegate serve\n');
    throw withOrigin(error, config);
  }
}

interface Trial {
  readonly config: Config;
  readonly contract: Contract;
  readonly key: string;
}

/** Sends one request through the gateway. */
async function tryOnce(terminal: Terminal, url: string, { config, contract, key }: Trial): Promise<void> {
  const [sample] = config.contract.file === NO_CONTRACT ? [{ path: '/' }] : sampleRequests(contract);
  const [name, value] = keyField(config.keys.carriers ?? contract.carriers, key);
  const path = sample?.path ?? '/';
  print(terminal, 'Try', `curl -i '${url}${path}' -H '${name}: ${value}'`);
  const response = await fetch(url + path, { headers: { [name]: value }, redirect: 'manual' });
  await response.body?.cancel();
  const [limit, left] = ['limit', 'remaining'].map((one) => response.headers.get(`x-ratelimit-${one}`));
  print(
    terminal,
    'Response',
    `GET ${path}: ${response.status} ${response.statusText}, ${left} of ${limit} requests left`,
  );
  if (response.status !== 401) return;
  print(terminal, '', 'The 401 comes from your API: send its own token as well, such as -H "Authorization: Bearer …".');
}

const keyField = ({ headers: [name] }: Carriers, key: string): [name: string, value: string] =>
  name === undefined ? ['Authorization', `Bearer ${key}`] : [name, key];
