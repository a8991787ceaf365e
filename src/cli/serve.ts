import { Outage } from '../common/errors/outage.ts';
import { isExpected } from '../common/expected-error.ts';
import type { Address, Config, ServedConfig } from '../config/config.ts';
import { namesBackends, sourceOf, withBackend } from '../config/describe.ts';
import { variableOf } from '../config/environment.ts';
import { loadConfig } from '../config/load.ts';
import { formatPlace } from '../config/problems/problems.ts';
import { postponeOptimizing, tuneEngine } from '../run/engine.ts';
import type { Gateway, Started } from '../run/gateway.ts';
import { ReloadRefused } from '../run/reload.ts';
import type { Systemd } from '../run/systemd.ts';
import { RedisError } from '../state/redis/error.ts';
import type { Store } from '../store/store.ts';
import { storeFile } from './commands/store.ts';
import { CommandError } from './connect/api.ts';
import type { DemoKey } from './demo.ts';
import { startScreen } from './start-screen.ts';
import { type Terminal, untilStopped } from './terminal.ts';

interface ServeOptions {
  /** Only on a first start in a terminal. */
  readonly demoKeys: boolean;
}

export async function serve(
  terminal: Terminal,
  options: ServeOptions,
): Promise<void> {
  tuneEngine();
  postponeOptimizing();
  const systemd = await findSystemd(terminal);
  const config = loadConfig(terminal);
  let store: Store | null = null;
  try {
    const found = await findBackend(config);
    store = found.store;
    const running = {
      config: found.served,
      load: () => loadConfig(terminal),
      systemd,
    };
    await runUntilStopped(
      terminal,
      running,
      async ({ apis }, { url, adminUrl, unmigratedKeys }) => {
        // Only on a terminal: elsewhere the secrets would end up in a log.
        if (!terminal.isTerminal) return;
        const keys =
          options.demoKeys && unmigratedKeys === null
            ? await demoKeys(config)
            : null;
        const place = await placeOf(config);
        terminal.out(
          startScreen({
            url,
            adminUrl,
            config,
            apis,
            place,
            unmigratedKeys,
            keys,
          }),
        );
      },
    );
  } catch (error) {
    throw withOrigin(error, config);
  } finally {
    await store?.close();
    await systemd?.close();
  }
}

async function findSystemd({ env, err }: Terminal): Promise<Systemd | null> {
  if (env.NOTIFY_SOCKET === undefined && env.LISTEN_FDS === undefined)
    return null;
  const { openSystemd } = await import('../run/systemd.ts');
  return openSystemd(env, (sentence) => err(`${sentence}\n`));
}

interface Running {
  readonly config: ServedConfig;
  readonly load: () => Config;
  readonly systemd?: Systemd | null | undefined;
}

/** Runs a gateway until a signal. SIGHUP reloads. */
export async function runUntilStopped(
  terminal: Terminal,
  { config, load, systemd }: Running,
  whenStarted: (gateway: Gateway, started: Started) => Promise<void>,
): Promise<void> {
  const { createGateway } = await import('../run/gateway.ts');
  const gateway = await createGateway(config, {
    load,
    sockets: systemd?.sockets,
  });
  const stopListening = terminal.onHangup(() => {
    if (!terminal.stop.aborted) void reload(gateway, systemd);
  });
  try {
    const started = await gateway.start();
    systemd?.ready(`Serving ${started.url}`);
    await whenStarted(gateway, started);
    await untilStopped(terminal);
  } finally {
    systemd?.stopping();
    await gateway.stop();
    stopListening();
  }
}

/** `store`: runs beside the gateway. */
async function findBackend(
  config: Config,
): Promise<{ served: ServedConfig; store: Store | null }> {
  if (namesBackends(config)) return { served: config, store: null };
  const { startStore } = await import('./store.ts');
  const { store, url } = await startStore(storeFile(config.data), {
    host: '127.0.0.1',
    port: 0,
  });
  return { served: withBackend(config, url), store };
}

/** Without a password. */
async function placeOf(config: Config): Promise<string> {
  const { redis, data } = config;
  if (redis === null) return `Keys and data are in ${data}.`;
  const { redisName } = await import('../records/redis/open.ts');
  const store = namesBackends(config)
    ? ''
    : ` The data of the store is in ${data}.`;
  return `Keys, counters and bans are in ${redisName(redis)}.${store}`;
}

/** `null` while Redis is down: a gateway that starts without Redis has started before. */
async function demoKeys(config: Config): Promise<DemoKey[] | null> {
  const { makeDemoKeys } = await import('./demo.ts');
  try {
    return await makeDemoKeys(config);
  } catch (error) {
    if (
      error instanceof Outage ||
      (error instanceof RedisError && error.isUnreachable)
    )
      return null;
    throw error;
  }
}

/** The log has the mistakes. */
async function reload(
  gateway: Gateway,
  systemd: Systemd | null | undefined,
): Promise<void> {
  systemd?.reloading();
  try {
    await gateway.reload('SIGHUP');
    systemd?.reloaded('Reloaded');
  } catch (error) {
    if (!(error instanceof ReloadRefused)) throw error;
    systemd?.reloaded('The reload failed: see the log');
  }
}

/** Reads the message, because workers are other processes. */
export function withOrigin(error: unknown, config: Config): unknown {
  if (!isExpected(error)) return error;
  const setting = settingIn(error.message, config);
  if (setting === null) return error;
  return new CommandError(`${error.message} (${originOf(config, setting)})`, {
    cause: error,
  });
}

function settingIn(
  message: string,
  { listen, admin, data }: Config,
): string | null {
  const part = /(that address|such host)$/.test(message) ? 'host' : 'port';
  const names = ({ host, port }: Address) =>
    message.includes(`cannot listen on ${host}:${port}: `);
  if (names(listen)) return `listen.${part}`;
  if (names(admin)) return `admin.${part}`;
  return message.includes(data) ? 'data' : null;
}

/**
 * `STOREGATE_PORT`, `listen.port in config/gateway.yaml:12:5`, or `the default; STOREGATE_PORT sets
 * another`.
 */
function originOf(config: Config, setting: string): string {
  const origin = sourceOf(config, setting);
  if (origin.kind === 'environment') return origin.name;
  if (origin.kind === 'file')
    return `${setting} in ${formatPlace(origin.file, origin.position)}`;
  return `the default; ${variableOf(setting)} sets another`;
}
