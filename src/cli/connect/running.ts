import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { ResponseOf } from '@storegate/admin-api';
import { findDataFolder } from '../../config/data-folder.ts';
import { loadConfig } from '../../config/load.ts';
import { ConfigError, formatProblem } from '../../config/problems/problems.ts';
import { isLoopback } from '../../config/schema/formats.ts';
import { readSecret } from '../../config/secret-file.ts';
import { makeToken } from '../../records/operators/tokens.ts';
import { type AdminSocket, adminSocketsIn } from '../../state/admin-sockets.ts';
import type { Terminal } from '../terminal.ts';
import { type CallFailure, CommandError, type Connection } from './api.ts';
import { connectOverHttp } from './http.ts';

/** Milliseconds. A gateway that hangs must not keep the commands that need only its files. */
const TRIAL = 5_000;

/** Milliseconds after which the next gateway is asked too. */
const HEAD_START = 250;

interface Reached {
  readonly connection: Connection;
  /** Its Redis, from `redisPlace`; `null`: embedded state. */
  readonly redis: string | null;
}

type Find = (
  isFit?: (redis: string | null) => boolean,
) => Promise<Reached | null>;

/**
 * The gateway that runs on the data folder; `null`: no gateway, or it cannot be reached. `token`:
 * limits the calls, which are otherwise those of an admin. It does not use the files of the folder
 * now, so a mistake in them is only printed. Throws ConfigError for a mistake in the environment.
 */
export async function connectToRunning(
  terminal: Terminal,
  token: string | null,
): Promise<Connection | null> {
  const folder = findDataFolder(terminal);
  if (folder === null) return null;
  const named = redisNamed(terminal);
  const find: Find = (isFit = () => true) =>
    firstReached(
      adminSocketsIn(folder),
      token,
      (redis) => (named === undefined || redis === named) && isFit(redis),
    );
  const first = await find();
  if (first === null) return null;
  const running = failingOver(first, find);
  const mistakes = mistakesOf(terminal, first.redis);
  if (mistakes === null) return { ...running, isBesideFiles: true };
  terminal.err(`${mistakes}\n`);
  return running;
}

/** The Redis that the variables of this command name, if any. */
function redisNamed({ env, cwd }: Terminal): string | undefined {
  const url = readSecret(env, cwd, 'REDIS_URL')?.value;
  return url && URL.canParse(url) ? redisPlace(url) : undefined;
}

/**
 * A call that its gateway cannot have received, because it has ended or was restarted, goes to
 * one that runs now. A call whose response is lost is repeated if that repeats no change: it
 * changes nothing, or the state that keeps the response of its Idempotency-Key is the same. So do
 * downloads of which nothing was written.
 */
function failingOver(first: Reached, find: Find): Connection {
  let current = first;

  async function nextAfter(
    error: unknown,
    isChange: boolean,
  ): Promise<Reached | null> {
    const failure = failureIn(error);
    const { redis: place } = current;
    if (failure === 'lost' && isChange)
      return await find((redis) => redis === place);
    return failure === 'shut' || failure === 'lost' ? await find() : null;
  }

  async function orNext<T>(
    ask: (connection: Connection) => Promise<T>,
    isChange: boolean,
    mayRepeat = () => true,
  ): Promise<T> {
    try {
      return await ask(current.connection);
    } catch (error) {
      const next = mayRepeat() ? await nextAfter(error, isChange) : null;
      if (next === null) throw error;
      current = next;
      return await ask(next.connection);
    }
  }

  return {
    ...first.connection,
    call: (method, path, sent) =>
      orNext(
        (connection) => connection.call(method, path, sent),
        sent?.idempotencyKey !== undefined,
      ),
    download(path, query, write) {
      let isWritten = false;
      const note = (text: string) => {
        isWritten = true;
        write(text);
      };
      return orNext(
        (connection) => connection.download(path, query, note),
        false,
        () => !isWritten,
      );
    },
  };
}

const failureIn = (error: unknown): CallFailure | null =>
  error instanceof CommandError ? error.failure : null;

/** Prefers their order, but waits for none that hangs. */
async function firstReached(
  sockets: readonly AdminSocket[],
  token: string | null,
  isFit: (redis: string | null) => boolean,
): Promise<Reached | null> {
  const found = new AbortController();
  const { signal } = found;
  const attempts: Promise<Reached>[] = [];
  try {
    for (const socket of sockets) {
      const latest = reach(socket, token, signal).then((reached) => {
        if (isFit(reached.redis)) return reached;
        throw new CommandError('It uses another Redis.', { failure: 'shut' });
      });
      attempts.push(latest);
      const first = await Promise.race([
        firstOf(attempts),
        latest.catch(() => null),
        pause(HEAD_START, null, { signal }),
      ]);
      if (first !== null) return first;
    }
    return await firstOf(attempts);
  } finally {
    found.abort();
  }
}

async function firstOf(
  attempts: readonly Promise<Reached>[],
): Promise<Reached | null> {
  try {
    return await Promise.any(attempts);
  } catch (error) {
    const { errors } = error as AggregateError;
    const other = errors.find((one) => !isUnreached(one));
    if (other !== undefined) throw other;
    return null;
  }
}

function isUnreached(error: unknown): boolean {
  const failure = failureIn(error);
  return failure === 'shut' || failure === 'lost';
}

/** Rejects with CommandError. */
async function reach(
  socket: AdminSocket,
  token: string | null,
  signal: AbortSignal,
): Promise<Reached> {
  const through = (token: string | null, timeout?: number) =>
    connectOverHttp('http://localhost', token, { socket, timeout });
  // This call needs no state, so it succeeds without Redis.
  const { settings } = (await through(null, TRIAL).call('GET', '/config', {
    signal,
  })) as ResponseOf<'getConfig'>;
  const url = settings.find(({ name }) => name === 'redis.url')?.value;
  const redis = url === undefined ? null : (JSON.parse(url) as string | null);
  return {
    connection: through(token),
    redis: redis && redisPlace(redis),
  };
}

/** Host, port and database of a Redis, without user and password. */
function redisPlace(url: string): string {
  const { hostname, port, pathname } = new URL(url);
  const host = isLoopback(hostname.replace(/[[\]]/g, ''))
    ? 'localhost'
    : hostname;
  return `${host}:${port || 6379}/${pathname.slice(1) || '0'}`;
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
