import { once } from 'node:events';
import type { Server } from 'node:net';
import { ExpectedError } from './expected-error.ts';

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program is using it',
  EACCES: 'this user may not use it',
  EADDRNOTAVAIL: 'this machine does not have that address',
  ENOTFOUND: 'unknown host',
};

export class ListenError extends ExpectedError {
  override name = 'ListenError';
  readonly taken: boolean;

  constructor(host: string, port: number, cause: NodeJS.ErrnoException) {
    super(
      `cannot listen on ${host}:${port}: ${REASONS[cause.code ?? ''] ?? cause.message}`,
      {
        cause,
      },
    );
    this.taken = cause.code === 'EADDRINUSE';
  }
}

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  /** Several sockets share the address. Not available on macOS. */
  readonly reusePort?: boolean;
  /** An inherited socket that listens already; host and port then only name it in errors. */
  readonly fd?: number | undefined;
}

/** Resolves with the bound port. Rejects with ListenError. */
export async function listen(
  server: Server,
  { host, port, reusePort = false, fd }: ListenOptions,
): Promise<number> {
  server.listen(fd === undefined ? { port, host, reusePort } : { fd });
  try {
    await once(server, 'listening');
  } catch (error) {
    throw new ListenError(host, port, error as NodeJS.ErrnoException);
  }
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : port;
}

/** On a Unix socket that only the user of this process can open. Rejects with the system's error. */
export async function listenLocally(
  server: Server,
  path: string,
): Promise<void> {
  // The socket is made within the call, with the umask of that moment.
  const umask = process.umask(0o177);
  try {
    server.listen(path);
  } finally {
    process.umask(umask);
  }
  await once(server, 'listening');
}
