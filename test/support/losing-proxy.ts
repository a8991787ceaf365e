import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** In front of an admin listener, whose responses it can lose. */
export interface LosingProxy {
  readonly url: string;
  /** Loses the response to the next change, which the gateway has made. */
  loseNext(): void;
  /** Whether `loseNext` still waits for its call. */
  readonly isLosing: boolean;
  close(): void;
}

export async function startLosingProxy(adminUrl: string): Promise<LosingProxy> {
  let isLosing = false;
  const server = createServer(async (incoming, response) => {
    const { method, url, headers } = incoming;
    const body = await buffer(incoming);
    const isChange = method !== 'GET' && !body.includes('"dryRun":true');
    const options = { method, headers, agent: false };
    const outgoing = request(`${adminUrl}${url}`, options, async (answer) => {
      const whole = await buffer(answer);
      if (isLosing && isChange) {
        isLosing = false;
        response.destroy();
      } else response.writeHead(answer.statusCode!, answer.headers).end(whole);
    });
    outgoing.on('error', () => response.destroy()).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    loseNext: () => {
      isLosing = true;
    },
    get isLosing() {
      return isLosing;
    },
    close: () => server.close().closeAllConnections(),
  };
}
