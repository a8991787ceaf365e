import { connect } from 'node:net';
import type { Request } from './subject.ts';

/** Milliseconds for an answer. */
const PATIENCE = 10_000;

/** Sends a request as it is written, on a connection of its own. Returns the status; 0 if there is no answer. */
export async function statusOf(url: string, { method, target, headers, body }: Request, more: object): Promise<number> {
  const { hostname, port, host } = new URL(url);
  const bytes = Buffer.from(body ?? '');
  const length = body === undefined ? {} : { 'Content-Length': bytes.length };
  const all = { Host: host, Connection: 'close', Accept: '*/*', ...more, ...headers, ...length };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.setTimeout(PATIENCE, () => socket.destroy());
  let answer = '';
  socket.on('data', (chunk) => {
    answer += chunk.toString('latin1');
  });
  // The status is 0 then.
  socket.on('error', () => {});
  socket.write(`${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`);
  socket.write(bytes);
  await new Promise((resolve) => socket.on('close', resolve));
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0);
}
