import { resolve } from 'node:path';
import { readTextFile, UnreadableFile } from './yaml/text-file.ts';

/** From a variable such as REDIS_URL, or from the file that REDIS_URL_FILE names. */
interface GivenSecret {
  readonly name: string;
  /**
   * `null` for a mistake. `message` shows neither value nor path: the path may be a misplaced
   * secret.
   */
  readonly value: string | null;
  readonly message: string;
}

/** Without the line end of its file. */
export function readSecret(
  env: Readonly<Record<string, string | undefined>>,
  cwd: string,
  variable: string,
): GivenSecret | null {
  const name = `${variable}_FILE`;
  const file = env[name];
  if (!file)
    return env[variable]
      ? { name: variable, value: env[variable], message: '' }
      : null;
  if (env[variable])
    return {
      name,
      value: null,
      message: `${variable} is set too; set one of them`,
    };
  try {
    const value = readTextFile(resolve(cwd, file)).replace(/\r?\n$/, '');
    return value === ''
      ? { name, value: null, message: 'the file that it names is empty' }
      : { name, value, message: '' };
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error;
    return {
      name,
      value: null,
      message: `the file that it names ${error.message} (the path is not shown)`,
    };
  }
}
