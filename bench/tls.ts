/**
 * CPU of TLS 1.3, for storegate and for nginx as a bare proxy:
 *
 *     node --disable-warning=ExperimentalWarning bench/tls.ts --before main
 *
 * A GET on kept-alive connections, plain and with TLS; and a GET per connection: plain, full
 * handshake, resumed session. `--before` measures a commit, too.
 */

import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { connect as connectTcp, type Socket } from 'node:net';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { parseArgs } from 'node:util';
import { checkOut } from '../test/support/checkout.ts';
import { freePort } from '../test/support/free-port.ts';
import type { Child } from './children.ts';
import { cpuTime } from './cpu.ts';
import { load } from './load.ts';
import { PROXY_PASS, startNginx, upstream } from './nginx.ts';
import { spread } from './statistics.ts';
import { withSurroundings } from './surroundings.ts';
import { startStoregate } from './targets/storegate-process.ts';
import type { Surroundings } from './targets/target.ts';

const SECONDS = 2;
const ROUNDS = 5;
const CONNECTIONS = 64;
/** Connections of a round, and concurrent ones. */
const NEW = 600;
const AT_ONCE = 16;

const { values } = parseArgs({ options: { before: { type: 'string' } } });

interface Measured {
  readonly name: string;
  readonly url: string;
  readonly key: string;
  readonly pid: number;
}

/** Self-signed for `localhost`. */
function certificate(folder: string): { cert: string; key: string } {
  const pair = { cert: join(folder, 'tls.crt'), key: join(folder, 'tls.key') };
  const kind = [
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-days',
    '1',
  ];
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const files = ['-keyout', pair.key, '-out', pair.cert];
  execFileSync('openssl', ['req', '-x509', ...kind, ...names, ...files], { stdio: 'ignore' });
  return pair;
}

async function startAll(surroundings: Surroundings): Promise<Measured[]> {
  const { children, backend } = surroundings;
  const pair = certificate(children.folder);
  const all: Measured[] = [];
  const add = (name: string, url: string, key: string, { pid }: Pick<Child, 'pid'>) =>
    all.push({ name, url, key, pid });
  const env = { STOREGATE_TLS_CERT: pair.cert, STOREGATE_TLS_KEY: pair.key };
  const start = async (name: string, project?: string) => {
    const at = project === undefined ? {} : { project };
    const plain = await startStoregate(`${name}-plain`, surroundings, at);
    add(name, plain.url, plain.keys.admitted, plain);
    const secure = await startStoregate(`${name}-tls`, surroundings, { ...at, env });
    add(`${name}, TLS`, secure.url.replace('http:', 'https:'), secure.keys.admitted, secure);
  };
  await start('storegate');
  if (values.before !== undefined)
    await start('storegate before', checkOut(values.before, children.folder).folder);
  for (const tls of [null, pair]) {
    const [name, port] = [tls === null ? 'nginx' : 'nginx-tls', await freePort()];
    const server = `location / { ${PROXY_PASS} }`;
    const child = await startNginx(children, {
      name,
      port,
      http: upstream(backend.port),
      server,
      ...(tls && { tls }),
    });
    add(
      tls === null ? 'nginx' : 'nginx, TLS',
      `${tls === null ? 'http' : 'https'}://127.0.0.1:${port}`,
      'none',
      child,
    );
  }
  return all;
}

/** Microseconds of CPU per request; `send` returns the number of requests. */
async function cost(pid: number, send: () => Promise<number>): Promise<number> {
  const before = cpuTime(pid);
  const requests = await send();
  return (cpuTime(pid) - before) / requests;
}

async function kept({ url, key, pid }: Measured, folder: string): Promise<number> {
  const request = { method: 'GET', url: `${url}/pets`, headers: { 'X-API-Key': key }, body: null };
  return await cost(pid, async () => {
    const { requests, refusals, failures } = await load(request, {
      seconds: SECONDS,
      connections: CONNECTIONS,
      folder,
    });
    if (refusals + failures > 0) throw new Error(`${url}: ${refusals} refused, ${failures} failed`);
    return requests;
  });
}

async function once1({ url, key }: Measured, session: Buffer | null): Promise<Buffer | null> {
  const { protocol, port } = new URL(url);
  const to = { host: '127.0.0.1', port: Number(port) };
  let made: Buffer | null = null;
  let socket: Socket;
  if (protocol === 'http:') {
    socket = connectTcp(to);
    await once(socket, 'connect');
  } else {
    const secured = connect({ ...to, rejectUnauthorized: false, ...(session && { session }) });
    secured.on('session', (one: Buffer) => {
      made = one;
    });
    await once(secured, 'secureConnect');
    if (secured.isSessionReused() !== (session !== null))
      throw new Error(`${url}: sessions are not as they should be`);
    socket = secured;
  }
  socket.write(
    `GET /pets HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${key}\r\nConnection: close\r\n\r\n`,
  );
  const [answer] = (await once(socket, 'data')) as [Buffer];
  if (!answer.toString('latin1').startsWith('HTTP/1.1 200 '))
    throw new Error(answer.toString('latin1', 0, 200));
  socket.destroy();
  return made;
}

async function fresh(one: Measured, resumes: boolean): Promise<number> {
  const session = resumes ? await once1(one, null) : null;
  return await cost(one.pid, async () => {
    let left = NEW;
    const call = async () => {
      while (left-- > 0) await once1(one, session);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, call));
    return NEW;
  });
}

await withSurroundings(process.execPath, async (surroundings) => {
  const all = await startAll(surroundings);
  const { folder } = surroundings.children;
  const names = all.map(({ name }) => name).filter((name) => !name.endsWith(', TLS'));
  const named = (name: string) => all.find((one) => one.name === name)!;
  const projects = names.filter((name) => name !== 'nginx');
  const works = new Map<string, () => Promise<number>>([
    ...all.map((one) => [`${one.name}: GET, connection kept`, () => kept(one, folder)] as const),
    ...projects.flatMap((name) => [
      [`${name}: GET, new connection`, () => fresh(named(name), false)] as const,
      [`${name}, TLS: GET, full handshake`, () => fresh(named(`${name}, TLS`), false)] as const,
      [`${name}, TLS: GET, resumed session`, () => fresh(named(`${name}, TLS`), true)] as const,
    ]),
  ]);
  const costs = new Map<string, number[]>([...works.keys()].map((name) => [name, []]));
  // The first round is a warm-up.
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [name, work] of works) {
      const found = await work();
      if (round > 0) costs.get(name)!.push(found);
    }
  }
  for (const [name, found] of costs)
    console.log(`${name.padEnd(44)} ${spread(found).median.toFixed(1)} us of CPU`);
  const of = (name: string) => spread(costs.get(`${name}: GET, connection kept`)!).median;
  const ratio = (name: string) => (of(`${name}, TLS`) / of(name)).toFixed(2);
  console.log(
    `TLS beside plain, connection kept: ${names.map((name) => `${name} ${ratio(name)}`).join(', ')}`,
  );
});
