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
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { parseArgs } from 'node:util';
import { freePort } from '../test/support/free-port.ts';
import { Connection, get, OK } from './connection.ts';
import { load } from './load.ts';
import { PROXY_PASS, startNginx, upstream } from './nginx.ts';
import { checkouts, withSurroundings } from './surroundings.ts';
import { startStoregate } from './targets/storegate-process.ts';
import type { Surroundings } from './targets/target.ts';
import { compareInTurns, type Series } from './turns.ts';

const SECONDS = 2;
const ROUNDS = 5;
const CONNECTIONS = 64;
/** Connections of a round, and concurrent ones. */
const NEW = 600;
const AT_ONCE = 16;

const { values } = parseArgs({ options: { before: { type: 'string' } } });

interface Measured {
  readonly name: string;
  readonly port: number;
  readonly isSecure: boolean;
  readonly key: string;
  readonly pid: number;
}

/** Self-signed for `localhost`. */
function certificate(folder: string): { cert: string; key: string } {
  const pair = { cert: join(folder, 'tls.crt'), key: join(folder, 'tls.key') };
  const kind = '-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1';
  const names = '-subj /CN=localhost -addext subjectAltName=DNS:localhost';
  const args = `req -x509 ${kind} ${names} -keyout ${pair.key} -out ${pair.cert}`;
  execFileSync('openssl', args.split(' '), { stdio: 'ignore' });
  return pair;
}

/** Each plain and with TLS. */
async function startAll(surroundings: Surroundings): Promise<Measured[]> {
  const { children, backend } = surroundings;
  const tls = certificate(children.folder);
  const secured = { STOREGATE_TLS_CERT: tls.cert, STOREGATE_TLS_KEY: tls.key };
  const all: Measured[] = [];
  for (const isSecure of [false, true]) {
    const end = isSecure ? '-tls' : '';
    for (const { name, folder: project } of checkouts(values.before, children.folder)) {
      const options = { project, ...(isSecure && { env: secured }) };
      const { url, keys, pid } = await startStoregate(`${name}${end}`, surroundings, options);
      const port = Number(new URL(url).port);
      all.push({ name: `${name}${end}`, port, isSecure, key: keys.admitted, pid });
    }
    const name = `nginx${end}`;
    const port = await freePort();
    const { pid } = await startNginx(children, {
      name,
      port,
      http: upstream(backend.port),
      server: `location / { ${PROXY_PASS} }`,
      ...(isSecure && { tls }),
    });
    all.push({ name, port, isSecure, key: 'none', pid });
  }
  return all;
}

async function kept({ name, port, isSecure, key }: Measured, folder: string): Promise<number> {
  const url = `${isSecure ? 'https' : 'http'}://127.0.0.1:${port}/pets`;
  const request = { method: 'GET', url, headers: { 'X-API-Key': key }, body: null };
  const options = { seconds: SECONDS, connections: CONNECTIONS, folder };
  const { requests, refusals, failures } = await load(request, options);
  if (refusals + failures > 0) throw new Error(`${name}: ${refusals} refused, ${failures} failed`);
  return requests;
}

/** A GET on a connection of its own. */
async function askOnce({ name, port, isSecure, key }: Measured, session?: Buffer): Promise<void> {
  const socket = isSecure ? secure(port, session) : undefined;
  let isReused = false;
  socket?.once('secureConnect', () => {
    isReused = socket.isSessionReused();
  });
  const request = get('/pets', key, 'Connection: close\r\n');
  const outcome = await new Connection(port, socket).ask(request);
  if (outcome !== OK || isReused !== (session !== undefined))
    throw new Error(`${name}: ${outcome}, the session was ${isReused ? '' : 'not '}resumed`);
}

function secure(port: number, session?: Buffer): TLSSocket {
  return connect({
    port,
    host: '127.0.0.1',
    rejectUnauthorized: false,
    ...(session && { session }),
  });
}

async function fresh(one: Measured, resumes: boolean): Promise<number> {
  let session: Buffer | undefined;
  if (resumes) {
    const socket = secure(one.port);
    [session] = (await once(socket, 'session')) as [Buffer];
    socket.destroy();
  }
  let remaining = NEW;
  const call = async () => {
    while (remaining-- > 0) await askOnce(one, session);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, call));
  return NEW;
}

await withSurroundings(async (surroundings) => {
  const series = (await startAll(surroundings)).flatMap((one): Series[] => {
    const way = (what: string, send: Series['send']) => {
      return { name: `${one.name}: GET, ${what}`, pid: one.pid, send };
    };
    const ways = [way('connection kept', () => kept(one, surroundings.children.folder))];
    if (one.name.startsWith('nginx')) return ways;
    ways.push(way('new connection', () => fresh(one, false)));
    return one.isSecure ? [...ways, way('resumed session', () => fresh(one, true))] : ways;
  });
  await compareInTurns(series, ROUNDS);
});
