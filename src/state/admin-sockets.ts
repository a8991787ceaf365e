import { randomBytes } from 'node:crypto';
import {
  closeSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import type { Server } from 'node:net';
import { join } from 'node:path';
import { httpFetch, type Outgoing } from '../common/http-fetch.ts';
import { listenLocally } from '../common/listen.ts';
import { makeFolder } from './embedded/file.ts';

/**
 * How commands in the folder of a gateway reach it: by a socket that only the owner of the folder
 * can open, so a command needs neither a port nor a certificate nor a token.
 */
const FORM = /^admin\.[0-9a-f]{12}\.sock$/;

/** Milliseconds. A gateway that hangs still accepts connections. */
const TRIAL = 1_000;
/** `sun_path` has 108 bytes on Linux and 104 on macOS, with the end. */
const LONGEST = 103;

export interface AdminSocket {
  readonly folder: string;
  readonly name: string;
}

/**
 * Listens in `folder`. Commands see the socket once it accepts connections, so one that refuses
 * them is of a process that has ended. Throws StateFileError and errors of the file system.
 */
export async function openAdminSocket(
  folder: string,
  server: Server,
): Promise<() => void> {
  makeFolder(folder);
  await removeEnded(folder);
  const name = `admin.${randomBytes(6).toString('hex')}.sock`;
  const hidden = `.${name}`;
  await withPath({ folder, name: hidden }, (path) =>
    listenLocally(server, path),
  );
  renameSync(join(folder, hidden), join(folder, name));
  return () => rmSync(join(folder, name), { force: true });
}

/**
 * The sockets of `folder`, the oldest first, as far as it can be read: a command that cannot read
 * it uses Redis, or states why it cannot use the folder.
 */
export function adminSocketsIn(folder: string): readonly AdminSocket[] {
  const madeAt = (name: string) =>
    statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return namesIn(folder)
    .filter((name) => FORM.test(name))
    .sort((one, other) => madeAt(one) - madeAt(other))
    .map((name) => ({ folder, name }));
}

/** `path`: of the admin API, with the query. Rejects with the errors of `http.request`. */
export function fetchThrough(
  socket: AdminSocket,
  path: string,
  outgoing?: Outgoing,
): Promise<Response> {
  return withPath(socket, (socketPath) =>
    httpFetch(`http://localhost${path}`, { socketPath }, outgoing),
  );
}

/** `use` gets a path for the kernel. A long one leads through a descriptor of the folder. */
async function withPath<T>(
  { folder, name }: AdminSocket,
  use: (path: string) => Promise<T>,
): Promise<T> {
  const path = join(folder, name);
  if (Buffer.byteLength(path) <= LONGEST) return await use(path);
  const fd = openSync(folder, 'r');
  try {
    return await use(`/proc/self/fd/${fd}/${name}`);
  } finally {
    closeSync(fd);
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

async function removeEnded(folder: string): Promise<void> {
  // Another gateway that starts may have removed it.
  for (const socket of adminSocketsIn(folder))
    if (await isRefused(socket))
      rmSync(join(folder, socket.name), { force: true });
}

async function isRefused(socket: AdminSocket): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(TRIAL);
    await fetchThrough(socket, '/health/live', { signal });
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ECONNREFUSED';
  }
}
