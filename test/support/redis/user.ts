import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RedisServer } from './server.ts';

const MANUAL = join(import.meta.dirname, '../../../docs/redis.md');

/** The rights that the manual gives to the user of the gateway. */
function recommendedRights(): string[] {
  const [, rights] = /ACL SETUSER gateway on '>secret' (.*)$/m.exec(readFileSync(MANUAL, 'utf8'))!;
  return rights!.replaceAll("'", '').split(' ');
}

/**
 * Creates the user of the manual, with these changes of its rights. Returns the URL of the server
 * with this user.
 */
export async function recommendedUser(
  server: RedisServer,
  ...changes: readonly string[]
): Promise<string> {
  await server.admin.acl(
    'SETUSER',
    'gateway',
    'reset',
    'on',
    '>secret',
    ...recommendedRights(),
    ...changes,
  );
  return `redis://gateway:secret@127.0.0.1:${server.port}`;
}
