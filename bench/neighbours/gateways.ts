import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mainOf } from '../../test/support/checkout.ts';
import { freePort } from '../../test/support/free-port.ts';
import { Children } from '../children.ts';
import { PROXY_PASS, startNginx, upstream } from '../nginx.ts';
import type { Keys, Setup } from './attacks.ts';
import { contract } from './contract.ts';

export interface Running {
  readonly port: number;
  readonly keys: Keys;
}

export type Start = (children: Children, setup: Setup) => Promise<Running>;

const OTHERS = 14;
const KEYS_OF_ACCOUNT = 5;
/** No limit ends an attack: with more keys, it would stay below. */
const WINDOWS = 'windows: [{ limit: 1000000000, per: minute }]';
const PLANS = `plans:
  free: { weight: 1, ${WINDOWS} }
  business: { weight: 8, ${WINDOWS} }
public: { ${WINDOWS} }
bans: off
`;

type Create = (account: string, plan: string) => Promise<string>;

async function makeKeys(create: Create): Promise<Keys> {
  const list = (length: number, account: (i: number) => string) =>
    Promise.all(Array.from({ length }, (_, i) => create(account(i), 'free')));
  return {
    client: await create('business', 'business'),
    others: await list(OTHERS, (i) => `other-${i}`),
    account: await list(KEYS_OF_ACCOUNT, () => 'greedy'),
  };
}

/** A process for each attack; all have the same keys. */
export async function storegate(name: string, checkout: string, backend: number): Promise<Start> {
  const first = new Children();
  const data = join(first.folder, 'data');
  const start = async (children: Children, setup: Setup) => {
    const folder = join(children.folder, name);
    mkdirSync(folder);
    writeFileSync(join(folder, 'plans.yaml'), PLANS);
    writeFileSync(join(folder, 'openapi.json'), contract());
    const url = `http://127.0.0.1:${backend}`;
    writeFileSync(join(folder, 'gateway.yaml'), settings(setup, url));
    if (children !== first) cpSync(data, join(folder, 'data'), { recursive: true });
    const [port, adminPort] = [await freePort(), await freePort()];
    const env = {
      STOREGATE_HOST: '127.0.0.1',
      STOREGATE_PORT: `${port}`,
      STOREGATE_ADMIN_PORT: `${adminPort}`,
      BACKEND_URL: url,
      STOREGATE_DATA: children === first ? data : join(folder, 'data'),
      STOREGATE_CONFIG: join(folder, 'gateway.yaml'),
    };
    const flag = '--disable-warning=ExperimentalWarning';
    const args = [flag, mainOf(checkout), 'serve', '--no-demo-keys'];
    const common = { name, file: process.execPath, args, cwd: folder, env, port } as const;
    const redirection = redirectionOf(setup);
    const child = await children.start({ ...common, place: 'anywhere', redirection });
    return { port, adminPort, child };
  };
  const { adminPort, child } = await start(first, { contract: 'own' });
  const keys = await makeKeys((account, plan) => createKey(adminPort, account, plan));
  await child.stop();
  return async (children, setup) => ({ port: (await start(children, setup)).port, keys });
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

function redirectionOf({ log }: Setup): string {
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

/** One worker that passes everything on, with request buffering as by default. */
export function nginx(backend: number): Start {
  return async (children, setup) => {
    const port = await freePort();
    const accessLog = setup.log === undefined ? '' : 'access_log /dev/stdout;';
    await startNginx(children, {
      name: 'nginx',
      port,
      place: 'anywhere',
      connections: 10_000,
      http: `${upstream(backend)} client_max_body_size 4m;`,
      server: `${accessLog} location / { ${PROXY_PASS} }`,
      redirection: redirectionOf(setup),
    });
    return { port, keys: await makeKeys(async (account) => account) };
  };
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
