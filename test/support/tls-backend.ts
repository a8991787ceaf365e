import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';

export interface TlsBackend {
  readonly url: string;
  /**
   * Whether each connection resumed a session, and the name in the client certificate, if
   * requested.
   */
  readonly connections: readonly {
    readonly resumed: boolean;
    readonly client: string | undefined;
  }[];
  hangUp(): void;
  close(): Promise<void>;
}

export async function tlsBackend(
  pair: { readonly cert: string; readonly key: string },
  options: ServerOptions = {},
): Promise<TlsBackend> {
  const connections: { resumed: boolean; client: string | undefined }[] = [];
  const files = { cert: readFileSync(pair.cert), key: readFileSync(pair.key) };
  const server = createServer({ ...files, ...options }, (_request, response) => {
    response.setHeader('Content-Type', 'application/json');
    response.end('[]');
  });
  server.on('secureConnection', (socket: TLSSocket) => {
    const { subject } = socket.getPeerCertificate();
    connections.push({
      resumed: socket.isSessionReused(),
      client: subject?.CN as string | undefined,
    });
  });
  // Both IP versions: Node resumes no session if the first address of a name refused the
  // connection.
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
