import type { Server } from 'node:net';
import { ExpectedError } from './expected-error.ts';

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program is using it',
  EACCES: 'this user may not use it',
  EADDRNOTAVAIL: 'this machine does not have that address',
  ENOTFOUND: 'there is no such host',
};

/** The server cannot listen on an address; the message says which and why, in one sentence. */
export class ListenError extends ExpectedError {
  override name = 'ListenError';
  constructor(host: string, port: number, cause: NodeJS.ErrnoException) {
    super(`cannot listen on ${host}:${port}: ${REASONS[cause.code ?? ''] ?? cause.message}`, { cause });
  }
}

/** Resolves with the bound port when `server` listens. Rejects with ListenError when it cannot. */
export function listen(server: Server, { host, port }: { host: string; port: number }): Promise<number> {
  return new Promise((resolve, reject) => {
    const refused = (error: NodeJS.ErrnoException) => reject(new ListenError(host, port, error));
    server.once('error', refused);
    server.listen(port, host, () => {
      server.removeListener('error', refused);
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}
