import { renameSync } from 'node:fs';
import { createServer, type RequestOptions, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { adminSocketsIn } from '../../src/state/admin-sockets.ts';

/** In front of an admin listener, whose responses it can lose. */
export interface LosingProxy {
  /** The path of its socket, if it stands in a data folder. */
  readonly url: string;
  /** Loses the response to the next change, which the gateway has made. */
  loseNext(): void;
  /** Whether `loseNext` still waits for its call. */
  readonly isLosing: boolean;
  close(): void;
}

export function startLosingProxy(adminUrl: string): Promise<LosingProxy> {
  const { hostname: host, port } = new URL(adminUrl);
  return startProxy({ host, port }, { host: '127.0.0.1', port: 0 });
}

/** In place of the socket of the only gateway in the data folder. */
export function startLosingProxyIn(data: string): Promise<LosingProxy> {
  const path = join(data, adminSocketsIn(data)[0]!.name);
  const socketPath = join(data, 'behind.sock');
  renameSync(path, socketPath);
  return startProxy({ socketPath }, { path });
}

async function startProxy(
  gateway: RequestOptions,
  own: { readonly host: string; readonly port: number } | { readonly path: string },
): Promise<LosingProxy> {
  let isLosing = false;
  const server = createServer(async (incoming, response) => {
    const { method, url, headers } = incoming;
    const body = await buffer(incoming);
    const isChange = method !== 'GET' && !body.includes('"dryRun":true');
    const options = { ...gateway, path: url, method, headers, agent: false };
    const outgoing = request(options, async (reply) => {
      const whole = await buffer(reply);
      if (isLosing && isChange) {
        isLosing = false;
        response.destroy();
      } else response.writeHead(reply.statusCode!, reply.headers).end(whole);
    });
    outgoing.on('error', () => response.destroy()).end(body);
  });
  await new Promise<void>((resolve) => server.listen(own, resolve));
  return {
    url: 'path' in own ? own.path : `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    loseNext: () => {
      isLosing = true;
    },
    get isLosing() {
      return isLosing;
    },
    close: () => server.close().closeAllConnections(),
  };
}
