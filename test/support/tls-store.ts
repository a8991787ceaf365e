import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';

/** A store behind TLS on a free port of `localhost`. */
export interface TlsStore {
  readonly url: string;
  /** For each connection whether it resumed a session, and the name of who connected, if that was asked. */
  readonly connections: readonly { readonly resumed: boolean; readonly client: string | undefined }[];
  /** Ends connections that nobody uses. */
  hangUp(): void;
  close(): Promise<void>;
}

export async function tlsStore(
  pair: { readonly cert: string; readonly key: string },
  options: ServerOptions = {},
): Promise<TlsStore> {
  const connections: { resumed: boolean; client: string | undefined }[] = [];
  const files = { cert: readFileSync(pair.cert), key: readFileSync(pair.key) };
  const server = createServer({ ...files, ...options }, (_request, response) => {
    response.setHeader('Content-Type', 'application/json');
    response.end('[]');
  });
  server.on('secureConnection', (socket: TLSSocket) => {
    const { subject } = socket.getPeerCertificate();
    connections.push({ resumed: socket.isSessionReused(), client: subject?.CN as string | undefined });
  });
  // Of both versions of IP: Node resumes no session where the first address of a name refused the connection.
  server.listen(0);
  await once(server, 'listening');
  return {
    url: `https://localhost:${(server.address() as AddressInfo).port}`,
    connections,
    hangUp: () => server.closeIdleConnections(),
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
