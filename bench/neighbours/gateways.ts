import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeSecret } from '../../src/records/keys/secret.ts';
import { freePort } from '../../test/support/free-port.ts';
import type { Child, Children } from '../children.ts';
import { startNginx } from '../nginx.ts';
import { type Key, prepareGateway } from '../targets/storegate-process.ts';
import type { Keys, Setup } from './attacks.ts';
import { contract as ownContract } from './contract.ts';

export type Start = (children: Children, setup: Setup) => Promise<Child>;

/** No limit ends an attack: with more keys, it would stay below. */
const WINDOWS = 'windows: [{ limit: 1000000000, per: minute }]';
const PLANS = `plans:
  free: { weight: 1, ${WINDOWS} }
  business: { weight: 8, ${WINDOWS} }
public: { ${WINDOWS} }
bans: off
`;

const secrets = (length: number) => Array.from({ length }, () => makeSecret('bench'));
export const KEYS: Keys = {
  client: makeSecret('bench'),
  others: secrets(14),
  account: secrets(5),
};
const ROWS: readonly Key[] = [
  { key: KEYS.client, account: 'business', plan: 'business' },
  ...KEYS.others.map((key, i) => ({ key, account: `other-${i}`, plan: 'free' })),
  ...KEYS.account.map((key) => ({ key, account: 'greedy', plan: 'free' })),
];

const CONTRACTS = { own: '{ file: openapi.json }', none: '{ file: none }', shipped: '{}' };
const MOUNT =
  'apis: [{ name: files, path: /mount, contract: none, stripPath: false, upstream: mounted }]';

export function storegate(name: string, project: string, backend: number): Start {
  const url = `http://127.0.0.1:${backend}`;
  return async (children, { contract, log, maxBodyBytes = '1MiB' }) => {
    const settings = `contract: ${CONTRACTS[contract]}
log: { requests: ${log !== undefined} }
http: { maxConnections: 10000, maxBodyBytes: ${maxBodyBytes} }
upstreams: { mounted: { url: "${url}" } }
${contract === 'own' ? MOUNT : ''}
`;
    const { command } = await prepareGateway(children, name, {
      project,
      files: { 'plans.yaml': PLANS, 'gateway.yaml': settings, 'openapi.json': ownContract() },
      keys: ROWS,
      env: { BACKEND_URL: url },
      place: 'anywhere',
      redirection: log ?? '> /dev/null',
    });
    return await children.start(command);
  };
}

/** One worker that passes everything on, with request buffering as by default. */
export function nginx(backend: number): Start {
  return (children, { log }) =>
    startNginx(children, {
      name: 'nginx',
      place: 'anywhere',
      log: log && '/dev/stdout',
      backend,
      http: 'client_max_body_size 4m;',
      redirection: log,
    });
}

/** Returns its port. */
export async function startBackend(children: Children): Promise<number> {
  const reader = await freePort();
  writeFileSync(join(children.folder, 'large'), '0123456789'.repeat(1_000_000));
  const { port } = await startNginx(children, {
    name: 'backend',
    place: 'anywhere',
    // A proxy reads a body before it sends it on, so the response waits for all of it.
    backend: reader,
    http: `client_max_body_size 0;
      server { listen 127.0.0.1:${reader}; location / { return 200 '{"id":1}'; } }`,
    server: `location /large { alias ${children.folder}/large; }`,
  });
  return port;
}
