import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { program } from '../../runner/programs.ts';
import { freePort } from '../free-port.ts';

/** A separate redis-server on a free port with a temporary folder, which `stop` removes. */
export interface RedisServer {
  readonly port: number;
  readonly url: string;
  readonly process: ChildProcess;
  /** For reading and changing data; `stop` closes it. */
  readonly admin: Redis;
  signal(signal: NodeJS.Signals): void;
  kill(): Promise<void>;
  stop(): Promise<void>;
}

export interface RedisServerOptions {
  /** Settings of the configuration file as arguments: `['--maxmemory', '2mb']`. */
  readonly args?: readonly string[];
  readonly port?: number;
  /** Runs as a Sentinel on this configuration file. */
  readonly sentinel?: string;
  readonly password?: string;
  /** Added to the environment. */
  readonly env?: Readonly<Record<string, string>>;
}

export async function startRedis({
  args = [],
  port: given,
  sentinel,
  password,
  env = {},
}: RedisServerOptions = {}): Promise<RedisServer> {
  const port = given ?? (await freePort());
  const folder = await mkdtemp(join(tmpdir(), 'redis-'));
  const common = ['--port', `${port}`, '--bind', '127.0.0.1', '--dir', folder, '--daemonize', 'no'];
  const own = sentinel
    ? []
    : ['--save', '', '--appendonly', 'no', ...(password ? ['--requirepass', password] : [])];
  const child = spawn(
    program('redis-server'),
    [...(sentinel ? [sentinel, '--sentinel'] : []), ...common, ...own, ...args],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
    },
  );
  let output = '';
  child.stdout.on('data', (data) => {
    output = (output + data).slice(-4_000);
  });
  child.stderr.resume();
  // Not `exit`, which may come before the last of the output.
  const exited = once(child, 'close');
  const admin = new Redis({
    port,
    host: '127.0.0.1',
    ...(password ? { password } : {}),
    retryStrategy: () => 20,
    maxRetriesPerRequest: null,
    disableClientInfo: true,
    disconnectTimeout: 100,
  });
  admin.on('error', () => {});
  const gone = () => child.exitCode !== null || child.signalCode !== null;
  async function stop(): Promise<void> {
    admin.disconnect();
    child.kill('SIGKILL');
    if (!gone()) await exited;
    await rm(folder, { recursive: true, force: true });
  }

  try {
    const ended = exited.then(() => Promise.reject(new Error(`redis-server ended:\n${output}`)));
    await Promise.race([untilItAnswers(admin, child), ended]);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    port,
    url: `redis://${password ? `:${password}@` : ''}127.0.0.1:${port}`,
    process: child,
    admin,
    signal: (signal) => void child.kill(signal),
    async kill() {
      child.kill('SIGKILL');
      if (!gone()) await exited;
    },
    stop,
  };
}

/** If the port is in use, another server answers until the new one has ended. */
async function untilItAnswers(admin: Redis, child: ChildProcess): Promise<void> {
  const isIt = async () =>
    /^process_id:(\d+)/m.exec(await admin.info('server'))?.[1] === String(child.pid);
  while (!(await isIt())) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** Starts all servers or none: if one fails to start, the others are stopped. */
export async function startTogether(
  starts: readonly (() => Promise<RedisServer>)[],
): Promise<RedisServer[]> {
  const started = await Promise.allSettled(starts.map((start) => start()));
  const servers = started.filter((one) => one.status === 'fulfilled').map(({ value }) => value);
  const failed = started.find((one) => one.status === 'rejected');
  if (!failed) return servers;
  await stopAll(servers);
  throw failed.reason;
}

/** Stops `servers` if the setup fails. */
export async function orStop<T>(
  servers: readonly RedisServer[],
  setUp: () => Promise<T>,
): Promise<T> {
  try {
    return await setUp();
  } catch (error) {
    await stopAll(servers);
    throw error;
  }
}

export async function stopAll(servers: readonly RedisServer[]): Promise<void> {
  await Promise.all(servers.map((server) => server.stop()));
}
