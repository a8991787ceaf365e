import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Connection } from './client.ts';

/** File names: `<name>-<number of keys>.lua`, with `n` for any number. */
export const SCRIPTS = join(import.meta.dirname, 'lua');

/** The text of a script with what it includes, and its digest. */
export function readScript(file: string) {
  const text = readFileSync(join(SCRIPTS, file), 'utf8').replace(
    /^--- include (\S+)$/gm,
    (_line, rules: string) => readFileSync(join(SCRIPTS, rules), 'utf8'),
  );
  return { text, sha: createHash('sha1').update(text).digest('hex') };
}

export type Script = ReturnType<typeof loadScript>;

/**
 * The result runs the script. It sends the text if Redis does not know its digest. This is safe:
 * NOSCRIPT means that nothing was executed. A command whose reply was lost is never repeated.
 */
export const loadScript = (file: string) => loaded(file, 'call');

/** As `loadScript`; texts of the reply are bytes. */
export const loadBinaryScript = (file: string) => loaded(file, 'callBuffer');

function loaded(file: string, call: 'call' | 'callBuffer') {
  const { text, sha } = readScript(file);
  return async (
    redis: Connection,
    keys: readonly string[],
    args: readonly (string | number | Buffer)[],
  ): Promise<unknown> => {
    try {
      return await redis[call]('evalsha', sha, keys.length, ...keys, ...args);
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith('NOSCRIPT')))
        throw error;
      return await redis[call]('eval', text, keys.length, ...keys, ...args);
    }
  };
}
