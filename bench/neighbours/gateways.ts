import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mainOf } from '../../test/support/checkout.ts';
import { freePort } from '../../test/support/free-port.ts';
import { Children, type Command } from '../children.ts';
import { PROXY_PASS, startNginx, upstream } from '../nginx.ts';
import { contract } from './contract.ts';
import type { AttackKeys, Setup } from './table.ts';

export interface Keys extends AttackKeys {
  readonly business: string;
}

export interface Running {
  readonly port: number;
  readonly pid: number;
  readonly keys: Keys;
  /** Responses of the gateway so far; `null` if it cannot be asked. */
  readonly responses: () => Promise<number | null>;
}

export interface Gateway {
  readonly name: string;
  start(children: Children, setup: Setup): Promise<Running>;
}

const STRANGERS = 14;
const KEYS_OF_ACCOUNT = 5;
/** No limit ends an attack: with more keys, it would stay below. */
const WINDOWS = 'windows: [{ limit: 1000000000, per: minute }]';
const PLANS = `plans:
  free: { weight: 1, ${WINDOWS} }
  business: { weight: 8, ${WINDOWS} }
public: { ${WINDOWS} }
bans: off
`;

interface StoregateOptions {
  readonly name: string;
  readonly checkout: string;
  /** A port. */
  readonly backend: number;
  readonly workers: string;
  /** For its keys. */
  readonly folder: string;
}

/** One process for each attack; all have the same keys. */
export class Storegate implements Gateway {
  readonly name: string;
  readonly #checkout: string;
  readonly #backend: number;
  readonly #workers: string;
  /** Where the keys were created. */
  readonly #data: string;
  #keys: Keys | null = null;

  constructor(options: StoregateOptions) {
    this.name = options.name;
    this.#checkout = options.checkout;
    this.#backend = options.backend;
    this.#workers = options.workers;
    this.#data = join(options.folder, `data-${options.name}`);
  }

  async start(children: Children, setup: Setup): Promise<Running> {
    this.#keys ??= await this.#createKeys();
    const { command, adminPort } = await this.#command(children.folder, setup);
    cpSync(this.#data, command.env!.STOREGATE_DATA!, { recursive: true });
    const { pid } = await children.start(command);
    return { port: command.port, pid, keys: this.#keys, responses: () => responses(adminPort) };
  }

  async #createKeys(): Promise<Keys> {
    const children = new Children();
    try {
      const { command, adminPort } = await this.#command(children.folder, { contract: 'own' });
      const gateway = await children.start(command);
      const create = (account: string, plan: string) => createKey(adminPort, account, plan);
      const strangers = Array.from({ length: STRANGERS }, (_, i) =>
        create(`stranger-${i}`, 'free'),
      );
      const account = Array.from({ length: KEYS_OF_ACCOUNT }, () => create('greedy', 'free'));
      const keys = {
        business: await create('business', 'business'),
        strangers: await Promise.all(strangers),
        account: await Promise.all(account),
      };
      await gateway.stop();
      cpSync(command.env!.STOREGATE_DATA!, this.#data, { recursive: true });
      return keys;
    } finally {
      await children.close();
    }
  }

  async #command(parent: string, setup: Setup): Promise<{ command: Command; adminPort: number }> {
    const folder = join(parent, this.name);
    mkdirSync(folder);
    const backend = `http://127.0.0.1:${this.#backend}`;
    writeFileSync(join(folder, 'plans.yaml'), PLANS);
    writeFileSync(join(folder, 'openapi.json'), contract());
    writeFileSync(join(folder, 'gateway.yaml'), settings(setup, backend));
    const [port, adminPort] = [await freePort(), await freePort()];
    const env = {
      STOREGATE_HOST: '127.0.0.1',
      STOREGATE_PORT: `${port}`,
      STOREGATE_ADMIN_PORT: `${adminPort}`,
      BACKEND_URL: backend,
      STOREGATE_WORKERS: this.#workers,
      STOREGATE_DATA: join(folder, 'data'),
      STOREGATE_CONFIG: join(folder, 'gateway.yaml'),
      ...(this.#workers === '1' ? {} : { REDIS_URL: process.env.REDIS_URL! }),
    };
    const args = [
      '--disable-warning=ExperimentalWarning',
      mainOf(this.#checkout),
      'serve',
      '--no-demo-keys',
    ];
    const command: Command = {
      name: this.name,
      file: process.execPath,
      args,
      cwd: folder,
      env,
      port,
      place: 'anywhere',
      redirection: redirection(setup),
    };
    return { command, adminPort };
  }
}

function settings({ contract, log, maxBodyBytes = '1MiB' }: Setup, backend: string): string {
  const files = { own: '{ file: openapi.json }', none: '{ file: none }', shipped: '{}' };
  return `plans: { file: plans.yaml }
contract: ${files[contract]}
log: { requests: ${log !== undefined} }
http: { maxConnections: 10000, maxBodyBytes: ${maxBodyBytes} }
upstreams: { mounted: { url: "${backend}" } }
${contract === 'own' ? 'mounts: [{ path: /mount, upstream: mounted }]' : ''}
`;
}

function redirection({ log }: Setup): string {
  return log ?? '> /dev/null';
}

async function createKey(adminPort: number, account: string, plan: string): Promise<string> {
  const headers = { 'Content-Type': 'application/json' };
  const body = JSON.stringify({ account, plan });
  const response = await fetch(`http://127.0.0.1:${adminPort}/keys`, {
    method: 'POST',
    headers,
    body,
  });
  if (response.status !== 201) {
    throw new Error(`no key was created (${response.status}): ${await response.text()}`);
  }
  return ((await response.json()) as { key: string }).key;
}

async function responses(adminPort: number): Promise<number | null> {
  try {
    const signal = AbortSignal.timeout(2_000);
    const text = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`, { signal })).text();
    const counts = text.matchAll(/^storegate_requests_total\{.*\} (\d+)$/gm);
    return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
  } catch {
    // Some attacks end or stop the gateway.
    return null;
  }
}

/** One worker that passes everything on, with request buffering as by default. */
export class Nginx implements Gateway {
  readonly name = 'nginx';
  readonly #backend: number;

  constructor(backend: number) {
    this.#backend = backend;
  }

  async start(children: Children, setup: Setup): Promise<Running> {
    const port = await freePort();
    const accessLog = setup.log === undefined ? '' : 'access_log /dev/stdout;';
    const { pid } = await startNginx(children, {
      name: 'nginx',
      port,
      place: 'anywhere',
      connections: 10_000,
      http: `${upstream(this.#backend)} client_max_body_size 4m;`,
      server: `${accessLog} location / { ${PROXY_PASS} }`,
      redirection: redirection(setup),
    });
    const strangers = Array.from({ length: STRANGERS }, (_, i) => `stranger-${i}`);
    const account = Array.from({ length: KEYS_OF_ACCOUNT }, (_, i) => `greedy-${i}`);
    const keys = { business: 'business', strangers, account };
    return { port, pid, keys, responses: async () => null };
  }
}

/** Returns its port. */
export async function startBackend(children: Children): Promise<number> {
  const port = await freePort();
  const reader = await freePort();
  writeFileSync(join(children.folder, 'large'), '0123456789'.repeat(1_000_000));
  await startNginx(children, {
    name: 'backend',
    port,
    place: 'anywhere',
    connections: 10_000,
    // A proxy reads a body before it sends it on, so the response waits for all of it.
    http: `${upstream(reader)} client_max_body_size 0;
      server { listen 127.0.0.1:${reader}; location / { return 200 '{"id":1}'; } }`,
    server: `location /large { alias ${children.folder}/large; } location / { ${PROXY_PASS} }`,
  });
  return port;
}
