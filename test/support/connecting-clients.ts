import { once } from 'node:events';
import { connect } from 'node:net';
import { parentPort } from 'node:worker_threads';

/**
 * Clients in a thread. For each port that it receives, eight clients open a connection per request
 * until they are refused. It then sends the outcomes of requests that were neither answered nor
 * refused.
 */

const CLIENTS = 8;
const REFUSED = 'ECONNREFUSED';

parentPort!.on('message', async (port: number) => {
  const lost: string[] = [];
  await Promise.all(Array.from({ length: CLIENTS }, () => callUntilRefused(port, lost)));
  parentPort!.postMessage(lost);
});

async function callUntilRefused(port: number, lost: string[]): Promise<void> {
  for (;;) {
    const outcome = await call(port);
    if (outcome === REFUSED) return;
    if (!outcome.startsWith('HTTP')) lost.push(outcome);
  }
}

async function call(port: number): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  try {
    socket.write('GET /now HTTP/1.1\r\nHost: a\r\n\r\n');
    const [bytes] = await Promise.race([once(socket, 'data'), once(socket, 'end')]);
    return bytes?.toString('latin1', 0, 12) ?? 'no response';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  } finally {
    socket.destroy();
  }
}
