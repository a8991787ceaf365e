import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { keyField } from '../common/key-headers.ts';
import type { Config } from '../config/config.ts';
import type { Contract } from '../config/contract/contract.ts';
import { NO_CONTRACT } from '../config/contract/place.ts';
import { namesBackends } from '../config/describe.ts';
import { loadConfig } from '../config/load.ts';
import { createKey } from '../records/keys/manage.ts';
import { tuneEngine } from '../run/engine.ts';
import { addApi } from './add-api.ts';
import { CommandError } from './connect/api.ts';
import { withKeys } from './connect/storage.ts';
import { editBy } from './demo.ts';
import { gatewayFile, plansFile } from './init-files.ts';
import {
  type InitOptions,
  print,
  printNotes,
  readInputs,
  requestsFrom,
  respond,
} from './init-inputs.ts';
import { firstSample } from './sample-requests.ts';
import { runUntilStopped, withOrigin } from './serve.ts';
import type { Terminal } from './terminal.ts';

/** The files that init writes win over these variables. */
const WRITTEN = {
  STOREGATE_CONFIG: 'gateway.yaml',
  STOREGATE_CONTRACT: '',
  STOREGATE_PLANS: '',
  BACKEND_URL: '',
};

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
  if (options.add) return await addApi(terminal, options, folder);
  const unused = (['name', 'path', 'host'] as const).find(
    (name) => options[name] !== undefined,
  );
  if (unused !== undefined)
    throw new CommandError(`--${unused} belongs to --add`, {
      failure: 'usage',
    });
  refuseExisting(folder);
  const { backend, file, document } = await readInputs(
    terminal,
    options,
    folder,
  );
  const requests =
    file === NO_CONTRACT ? 'enforce' : await requestsFrom(terminal, options);
  const load = () =>
    loadConfig({ cwd: folder, env: { ...terminal.env, ...WRITTEN } });
  const config = await writeFiles(
    folder,
    load,
    gatewayFile(backend, file, { ...document, requests }),
  );
  printNotes(terminal, config.apis[0]!, document.contract);
  print(terminal, 'Written', `gateway.yaml, plans.yaml in ${folder}`);
  const key = await makeKey(config);
  print(terminal, 'Key', `${key} (plan free, account me; shown only once)`);
  if (options.start) await runGateway(terminal, config, load, key);
  else print(terminal, 'Next', 'npx storegate serve');
}

function refuseExisting(folder: string): void {
  for (const name of ['gateway.yaml', 'plans.yaml']) {
    const file = join(folder, name);
    if (existsSync(file))
      throw new CommandError(
        `${file} exists, and init overwrites no file. Choose another --directory, or add an API with --add.`,
      );
  }
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
