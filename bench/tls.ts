/**
 * CPU of TLS 1.3, for storegate and for nginx as a bare proxy:
 *
 *     node --disable-warning=ExperimentalWarning bench/tls.ts --before main
 *
 * A GET on kept-alive connections, plain and with TLS; and a GET per connection: plain, full
 * handshake, resumed session. `--before` measures a commit, too.
 */

import { once } from 'node:events';
import { connect, type TLSSocket } from 'node:tls';
import { Authority } from '../test/support/certificates.ts';
import type { Child } from './children.ts';
import { Connection, get, OK } from './connection.ts';
import { load } from './load.ts';
import { startNginx } from './nginx.ts';
import { readOptions } from './options.ts';
import { checkouts, withSurroundings } from './surroundings.ts';
import { startStoregate } from './targets/storegate-process.ts';
import { compareInTurns, type Series } from './turns.ts';
import { KEYS } from './work.ts';

const SECONDS = 2;
const ROUNDS = 5;
const CONNECTIONS = 64;
/** Connections of a round, and concurrent ones. */
const NEW = 600;
const AT_ONCE = 16;

const { before } = readOptions({ before: null });

interface Server extends Child {
  readonly name: string;
  readonly isSecure: boolean;
}

async function kept({ name, port, isSecure }: Server, folder: string): Promise<number> {
  const url = `${isSecure ? 'https' : 'http'}://127.0.0.1:${port}/pets`;
  const request = { method: 'GET', url, headers: { 'X-API-Key': KEYS.admitted }, body: null };
  const options = { seconds: SECONDS, connections: CONNECTIONS, folder };
  const { requests, refusals, failures } = await load(request, options);
  if (refusals + failures > 0) throw new Error(`${name}: ${refusals} refused, ${failures} failed`);
  return requests;
}

/** A GET on a connection of its own. */
async function askOnce({ name, port, isSecure }: Server, session?: Buffer): Promise<void> {
  const socket = isSecure ? secure(port, session) : undefined;
  let isReused = false;
  socket?.once('secureConnect', () => {
    isReused = socket.isSessionReused();
  });
  const request = get('/pets', KEYS.admitted, 'Connection: close\r\n');
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

async function fresh(one: Server, resumes: boolean): Promise<number> {
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

const authority = new Authority();
await withSurroundings(async (surroundings) => {
  const { children, backend } = surroundings;
  const tls = authority.issue('localhost', 'DNS:localhost');
  const secured = { STOREGATE_TLS_CERT: tls.cert, STOREGATE_TLS_KEY: tls.key };
  const series: Series[] = [];
  const add = ({ name, pid }: Server, way: string, send: Series['send']) =>
    series.push({ name: `${name}: GET, ${way}`, pid, send });
  for (const isSecure of [false, true]) {
    const end = isSecure ? '-tls' : '';
    for (const { name: commit, folder: project } of checkouts(before, children.folder)) {
      const name = `${commit}${end}`;
      const options = { project, env: isSecure ? secured : {} };
      const child = await startStoregate(name, surroundings, options);
      const gateway = { ...child, name, isSecure };
      add(gateway, 'connection kept', () => kept(gateway, children.folder));
      add(gateway, 'new connection', () => fresh(gateway, false));
      if (isSecure) add(gateway, 'resumed session', () => fresh(gateway, true));
    }
    const name = `nginx${end}`;
    const options = { name, backend: backend.port, ...(isSecure && { tls }) };
    const child = await startNginx(children, options);
    const nginx = { ...child, name, isSecure };
    add(nginx, 'connection kept', () => kept(nginx, children.folder));
  }
  await compareInTurns(series, ROUNDS);
}).finally(() => authority.remove());
