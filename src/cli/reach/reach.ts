import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Terminal } from '../terminal.ts';
import { type Api, CallError } from './api.ts';

/** The options that name a gateway. */
export interface Reach {
  readonly url?: string;
  readonly token?: string;
  readonly profile?: string;
}

/**
 * The gateway from the flags, else from the environment, else from a profile file. Without any of these, the state of
 * the configuration, in this process.
 */
export async function reach(terminal: Terminal, flags: Reach): Promise<Api> {
  const { env, cwd } = terminal;
  const file = flags.profile ?? (env.STOREGATE_PROFILE || undefined);
  const profile = file === undefined ? {} : await readProfile(resolve(cwd, file));
  const url = flags.url ?? (env.STOREGATE_ADMIN_URL || profile.url);
  if (url === undefined) return await beside(terminal);
  return await remote(url, flags.token ?? (await tokenIn(terminal)) ?? profile.token ?? null);
}

async function tokenIn({ env, cwd }: Terminal): Promise<string | null> {
  const { readSecret } = await import('../../config/secret-file.ts');
  const secret = readSecret(env, cwd, 'STOREGATE_ADMIN_TOKEN');
  if (secret?.value === null) throw new CallError(`${secret.name}: ${secret.message}`);
  return secret?.value ?? null;
}

/** The way to the state alone loads what the gateway is made of. */
async function beside(terminal: Terminal): Promise<Api> {
  const [{ reachBeside }, { loadConfig }] = await Promise.all([import('./beside.ts'), import('../../config/load.ts')]);
  return await reachBeside(() => loadConfig(terminal));
}

async function remote(url: string, token: string | null): Promise<Api> {
  const { reachRemote } = await import('./remote.ts');
  return reachRemote(url, token);
}

/** YAML or JSON with `url` and perhaps `token`. */
async function readProfile(file: string): Promise<{ url?: string; token?: string }> {
  const { parse } = await import('yaml');
  let profile: unknown;
  try {
    profile = parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new CallError(
      `cannot read the profile ${file}: ${code === 'ENOENT' ? 'there is no such file' : (code ?? 'it is no YAML')}`,
      { cause },
    );
  }
  const { url, token, ...more } = Object(profile) as Record<string, unknown>;
  const isTextOrNone = (value: unknown) => value === undefined || typeof value === 'string';
  if (typeof url !== 'string' || !isTextOrNone(token) || Object.keys(more).length > 0) {
    throw new CallError(`the profile ${file} must say url, and may say token, and nothing else`);
  }
  if (token !== undefined && (statSync(file).mode & 0o077) !== 0) {
    throw new CallError(`the profile ${file} holds a token and can be read by others: run chmod 600 ${file}`);
  }
  return { url, ...(token !== undefined && { token: token as string }) };
}
