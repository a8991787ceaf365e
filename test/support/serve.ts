import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type Server, type ServerOptions } from '@storegate/http1';
import { lines } from './lines.ts';

export interface Served {
  readonly server: Server;
  readonly url: string;
  close(): Promise<void>;
}

const HOUR = 3_600_000;

/** The deadlines are so long that no test reaches one, except those that it sets. */
export async function serve(
  handle: ServerOptions['handle'],
  given: Partial<Omit<ServerOptions, 'handle'>> = {},
  host = '127.0.0.1',
): Promise<Served> {
  const server = createServer({
    maxHeaderBytes: 16 * 1024,
    headersTimeout: HOUR,
    requestTimeout: HOUR,
    keepAliveTimeout: HOUR,
    maxRequestsPerConnection: Number.POSITIVE_INFINITY,
    responseWriteTimeout: HOUR,
    ticketSecret: new Uint8Array(32),
    handle,
    refuse: ({ fault }, reply) => reply.respond(400, lines(), fault),
    ...given,
  });
  const { listener } = server;
  listener.listen(0, host);
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo;
  return {
    server,
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    async close() {
      server.stop();
      const closed = new Promise((resolve) => listener.close(resolve));
      server.destroyConnections();
      await closed;
    },
  };
}
