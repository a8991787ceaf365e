import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import type { RedisServer } from './server.ts';

/**
 * The commands that all clients send to Redis during `work`, with their arguments. ioredis fails if
 * the first one arrives together with the reply to MONITOR.
 */
export async function commandsDuring(
  { admin, port }: RedisServer,
  work: () => unknown,
): Promise<readonly (readonly string[])[]> {
  const commands: string[][] = [];
  const mark = randomUUID();
  const begin = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  const monitor = connect(port, '127.0.0.1').on('error', begin.reject);
  createInterface(monitor).on('line', (line) => {
    if (line === '+OK') begin.resolve();
    else if (line.startsWith('-')) begin.reject(new Error(line));
    else if (line.includes(mark)) end.resolve();
    else if (!/^\S+ \[\d+ lua\]/.test(line)) commands.push(argumentsIn(line));
  });
  const { password } = admin.options;
  // Redis does both before any command that is sent after the first +OK.
  monitor.write(`${password ? `AUTH ${password}\r\n` : ''}MONITOR\r\n`);
  try {
    await begin.promise;
    await work();
    await admin.echo(mark);
    await end.promise;
  } finally {
    monitor.destroy();
  }
  return commands;
}

/** `+1700000000.000000 [0 127.0.0.1:5000] "get" "a"`. */
const argumentsIn = (line: string): string[] =>
  [...line.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, text]) => text!.replace(/\\(["\\])/g, '$1'));
