import { randomBytes } from 'node:crypto';
import type { FetchTls } from '../../common/https-fetch.ts';
import { findDataFolder } from '../../config/data-folder.ts';
import { loadConfig } from '../../config/load.ts';
import { ConfigError, formatProblem } from '../../config/problems/problems.ts';
import { readSecret } from '../../config/secret-file.ts';
import { shellUser } from '../../records/operators/shell-user.ts';
import { makeToken } from '../../records/operators/tokens.ts';
import {
  type Announcement,
  announcementsIn,
  redisPlace,
} from '../../state/announcements.ts';
import type { Terminal } from '../terminal.ts';
import { CommandError, type Connection } from './api.ts';
import { connectOverHttp } from './http.ts';

/** Milliseconds. A gateway that hangs must not keep the commands that need only its files. */
const TRIAL = 5_000;

/**
 * The gateway that runs on the data folder; `null`: no gateway, or it cannot be reached. It does
 * not use the files of the folder now, so a mistake in them is only printed. Throws ConfigError for
 * a mistake in the environment.
 */
export async function connectToRunning(
  terminal: Terminal,
  tls: FetchTls | null,
): Promise<Connection | null> {
  const folder = findDataFolder(terminal);
  if (folder === null) return null;
  const announced = announcedTo(terminal, folder);
  const find = () => firstReached(announcedTo(terminal, folder), tls);
  const first = await firstReached(announced, tls);
  if (first === null) return null;
  const running = failingOver(first, find);
  const mistakes = mistakesOf(terminal, announced[0]!.redis);
  if (mistakes === null) return { ...running, isBesideFiles: true };
  terminal.err(`${mistakes}\n`);
  return running;
}

/** Without gateways on another Redis than the variables of this command name. */
function announcedTo(
  { env, cwd }: Terminal,
  folder: string,
): readonly Announcement[] {
  const announced = announcementsIn(folder);
  const url = readSecret(env, cwd, 'REDIS_URL')?.value;
  if (!url || !URL.canParse(url)) return announced;
  return announced.filter(({ redis }) => redis === redisPlace(url));
}

/**
 * A call that its gateway did not accept, because it has ended or was started anew, goes to one
 * that runs now: gateways on one folder share its state.
 */
function failingOver(
  first: Connection,
  find: () => Promise<Connection | null>,
): Connection {
  let current = first;
  return {
    ...first,
    async call(method, path, sent) {
      try {
        return await current.call(method, path, sent);
      } catch (error) {
        if (!isShut(error)) throw error;
        const next = await find();
        if (next === null) throw error;
        current = next;
        return await current.call(method, path, sent);
      }
    },
  };
}

const isShut = (error: unknown): boolean =>
  error instanceof CommandError && error.failure === 'shut';

async function firstReached(
  announced: readonly Announcement[],
  tls: FetchTls | null,
): Promise<Connection | null> {
  for (const announcement of announced) {
    const connection = await reach(announcement, tls);
    if (connection !== null) return connection;
  }
  return null;
}

async function reach(
  { url, token, certificates: known }: Announcement,
  tls: FetchTls | null,
): Promise<Connection | null> {
  const options = { user: shellUser(), tls: { ...tls, known } };
  try {
    // This call needs no state, so it succeeds without Redis.
    await connectOverHttp(url, token, { ...options, timeout: TRIAL }).call(
      'GET',
      '/config',
    );
  } catch (error) {
    // Another machine or container may share the folder, so another service may have this address.
    if (isShut(error)) return null;
    throw error;
  }
  return connectOverHttp(url, token, options);
}

/**
 * What the files may leave to the environment of the gateway, which commands need not have. Any
 * value does: only the rest of the files is judged.
 */
const givenTo = (redis: string | null): Readonly<Record<string, string>> => ({
  STOREGATE_ADMIN_TOKEN: makeToken(),
  STOREGATE_WEBHOOK_SECRET: `whsec_${randomBytes(24).toString('base64')}`,
  ...(redis !== null && { REDIS_URL: `redis://${redis}` }),
});

/** In one line; `null`: the files are valid. */
function mistakesOf(terminal: Terminal, redis: string | null): string | null {
  const { env } = terminal;
  const given = Object.entries(givenTo(redis)).filter(
    ([name]) => !(name in env || `${name}_FILE` in env),
  );
  try {
    loadConfig({ ...terminal, env: { ...Object.fromEntries(given), ...env } });
    return null;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    // A variable is of this command, and may have been meant to name another folder.
    if (error.problems.some(({ source }) => source in env)) throw error;
    const [first, ...more] = error.problems.map(formatProblem);
    const rest =
      more.length === 0 ? '' : ` (and ${more.length} more: storegate check)`;
    return `${first}${rest}: the running gateway does not use it; a reload would be refused`;
  }
}
