import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../test/support/free-port.ts';
import { Children } from '../children.ts';
import { PROXY_PASS, startNginx, upstream } from '../nginx.ts';
import { gatewayIn } from '../targets/storegate-process.ts';
import type { Keys, Setup } from './attacks.ts';
import { contract as ownContract } from './contract.ts';

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
  const data = join(first.folder, name, 'data');
  const start = async (children: Children, { contract, log, maxBodyBytes = '1MiB' }: Setup) => {
    const folder = join(children.folder, name);
    mkdirSync(folder);
    writeFileSync(join(folder, 'plans.yaml'), PLANS);
    writeFileSync(join(folder, 'openapi.json'), ownContract());
    const url = `http://127.0.0.1:${backend}`;
    const files = { own: '{ file: openapi.json }', none: '{ file: none }', shipped: '{}' };
    writeFileSync(
      join(folder, 'gateway.yaml'),
      `contract: ${files[contract]}
log: { requests: ${log !== undefined} }
http: { maxConnections: 10000, maxBodyBytes: ${maxBodyBytes} }
upstreams: { mounted: { url: "${url}" } }
${contract === 'own' ? 'apis: [{ name: files, path: /mount, contract: none, stripPath: false, upstream: mounted }]' : ''}
`,
    );
    if (children !== first) cpSync(data, join(folder, 'data'), { recursive: true });
    const gateway = await gatewayIn(folder, checkout, { BACKEND_URL: url });
    const child = await children.start({
      ...gateway,
      name,
      file: process.execPath,
      args: [...gateway.args, 'serve', '--no-demo-keys'],
      place: 'anywhere',
      redirection: redirectionOf(log),
    });
    return { ...gateway, child };
  };
  const { adminUrl, child } = await start(first, { contract: 'own' });
  const keys = await makeKeys((account, plan) => createKey(adminUrl, account, plan));
  await child.stop();
  return async (children, setup) => ({ port: (await start(children, setup)).port, keys });
}

const redirectionOf = (log = '> /dev/null'): string => log;

async function createKey(adminUrl: string, account: string, plan: string): Promise<string> {
  const response = await fetch(`${adminUrl}/keys`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ account, plan }),
  });
  if (response.status !== 201)
    throw new Error(`no key was created (${response.status}): ${await response.text()}`);
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
      redirection: redirectionOf(setup.log),
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
