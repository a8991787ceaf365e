import { randomUUID } from 'node:crypto';
import type { RedisServer } from './server.ts';

/** The commands that all clients send to Redis during `work`, with their arguments. */
export async function commandsDuring(
  { admin }: RedisServer,
  work: () => unknown,
): Promise<readonly (readonly string[])[]> {
  const commands: string[][] = [];
  const mark = randomUUID();
  const end = Promise.withResolvers<void>();
  const monitor = await admin.monitor();
  monitor.on('monitor', (_time: string, args: string[], source: string) => {
    if (args[1] === mark) end.resolve();
    else if (source !== 'lua') commands.push(args);
  });
  try {
    await work();
    await admin.echo(mark);
    await end.promise;
  } finally {
    monitor.disconnect();
  }
  return commands;
}
