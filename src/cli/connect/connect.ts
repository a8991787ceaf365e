import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { FetchTls } from '../../common/http-fetch.ts';
import type { Terminal } from '../terminal.ts';
import { CommandError, type Connection } from './api.ts';

export interface ConnectOptions {
  readonly url?: string;
  readonly token?: string;
  readonly profile?: string;
}

/**
 * Flags come first, then the environment, a profile, the gateway that runs here, and the configured
 * state. A token that is given limits the command also at the gateway that runs here.
 */
export async function connect(
  terminal: Terminal,
  flags: ConnectOptions,
): Promise<Connection> {
  const { env, cwd } = terminal;
  const file = flags.profile ?? (env.STOREGATE_PROFILE || undefined);
  const profile =
    file === undefined ? {} : await readProfile(resolve(cwd, file));
  const url = flags.url ?? (env.STOREGATE_ADMIN_URL || profile.url);
  const tls = tlsIn(terminal, profile);
  const token =
    flags.token ?? (await tokenIn(terminal)) ?? profile.token ?? null;
  if (url !== undefined) {
    const { connectOverHttp } = await import('./http.ts');
    return connectOverHttp(url, token, { tls });
  }
  const { connectToRunning } = await import('./running.ts');
  const running = await connectToRunning(terminal, token);
  if (running !== null) return running;
  if (flags.token !== undefined)
    throw new CommandError(
      'No gateway of this folder was reached, and only a gateway checks --token. Name one with --url.',
      { failure: 'shut' },
    );
  // Only a call without a gateway loads its modules.
  const [{ connectLocally }, { loadSections }] = await Promise.all([
    import('./local.ts'),
    import('../../config/load.ts'),
  ]);
  return await connectLocally(() => loadSections(terminal));
}

type Profile = Readonly<
  Partial<Record<'url' | 'token' | keyof typeof TLS_VARIABLES, string>>
>;

const TLS_VARIABLES = {
  ca: 'STOREGATE_ADMIN_CA',
  cert: 'STOREGATE_ADMIN_CLIENT_CERT',
  key: 'STOREGATE_ADMIN_CLIENT_KEY',
} as const;

/** The environment overrides the profile, file by file. */
function tlsIn({ env, cwd }: Terminal, profile: Profile): FetchTls | null {
  const read = (name: keyof typeof TLS_VARIABLES) => {
    const variable = TLS_VARIABLES[name];
    const file = env[variable] || profile[name];
    if (file === undefined) return undefined;
    try {
      return readFileSync(resolve(cwd, file), 'utf8');
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      const what = env[variable] ? variable : `"${name}" in the profile`;
      throw new CommandError(`Cannot read the file of ${what} (${code}).`, {
        cause,
      });
    }
  };
  const [ca, cert, key] = [read('ca'), read('cert'), read('key')];
  if ((cert === undefined) !== (key === undefined)) {
    throw new CommandError(
      `Set both ${TLS_VARIABLES.cert} and ${TLS_VARIABLES.key}, or neither.`,
    );
  }
  return ca === undefined && cert === undefined ? null : { ca, cert, key };
}

async function tokenIn({ env, cwd }: Terminal): Promise<string | null> {
  const { readSecret } = await import('../../config/secret-file.ts');
  const secret = readSecret(env, cwd, 'STOREGATE_ADMIN_TOKEN');
  if (secret?.value === null)
    throw new CommandError(`${secret.name}: ${secret.message}`);
  return secret?.value ?? null;
}

async function readProfile(file: string): Promise<Profile> {
  const { parse } = await import('yaml');
  let profile: unknown;
  try {
    profile = parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new CommandError(
      `Cannot read the profile ${file}: ${code === 'ENOENT' ? 'it does not exist' : (code ?? 'it is not valid YAML')}.`,
      { cause },
    );
  }
  const { url, token, ca, cert, key, ...more } = Object(profile) as Record<
    string,
    unknown
  >;
  const isTextOrNone = (value: unknown) =>
    value === undefined || typeof value === 'string';
  if (
    typeof url !== 'string' ||
    ![token, ca, cert, key].every(isTextOrNone) ||
    Object.keys(more).length > 0
  ) {
    throw new CommandError(
      `The profile ${file} needs a url; it may also have token, ca, cert and key.`,
    );
  }
  if (token !== undefined && (statSync(file).mode & 0o077) !== 0) {
    throw new CommandError(
      `The profile ${file} has a token and is readable by others. Run: chmod 600 ${file}`,
    );
  }
  return profile as Profile;
}
