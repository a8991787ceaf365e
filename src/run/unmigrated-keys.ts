import type { Config } from '../config/config.ts';
import { Outage } from '../errors/outage.ts';
import type { KeyStore } from '../keys/store.ts';
import type { Observe } from '../observe/events.ts';
import { peekKeys } from '../state/embedded/peek.ts';

/** Keys of the data folder that are looked for in Redis, the newest; and how many at once. */
const MOST = 1_000;
const AT_ONCE = 100;
/** How often Redis is asked at once if it does not answer in time, and the milliseconds until it is asked again. */
const TRIES = 3;
const AGAIN = 1_000;

/** A data folder has keys that the Redis in use does not know: whoever has one of them is refused. */
export interface UnmigratedKeys {
  readonly folder: string;
  /** Keys in the folder. */
  readonly keys: number;
  /** At least so many of them are unknown to Redis. */
  readonly unknown: number;
}

/**
 * Looks whether keys were left behind in the data folder when the gateway got a Redis; `keys` are those in Redis. It asks only as
 * long as all are known, and for at most `MOST`. `null`: none. Throws Outage if Redis does not answer.
 */
export async function findUnmigratedKeys(
  { redis, data: folder }: Pick<Config, 'redis' | 'data'>,
  keys: Pick<KeyStore, 'get'>,
): Promise<UnmigratedKeys | null> {
  if (redis === null) return null;
  const { count, ids } = peekKeys(folder, MOST);
  for (let tries = 1; ; tries++) {
    try {
      const unknown = await unknownAmong(ids, keys);
      return unknown === 0 ? null : { folder, keys: count, unknown };
    } catch (error) {
      if (!(error instanceof Outage) || tries === TRIES) throw error;
    }
  }
}

/** At least so many are unknown; 0: none. */
async function unknownAmong(ids: readonly string[], keys: Pick<KeyStore, 'get'>): Promise<number> {
  for (let at = 0; at < ids.length; at += AT_ONCE) {
    const found = await Promise.all(ids.slice(at, at + AT_ONCE).map((id) => keys.get(id)));
    const unknown = found.filter((key) => key === null).length;
    if (unknown > 0) return unknown;
  }
  return 0;
}

/** As above, and reports it. `null` too if Redis does not answer: then it is asked again until it does, or `stopped` aborts. */
export async function reportUnmigratedKeys(
  config: Pick<Config, 'redis' | 'data'>,
  keys: Pick<KeyStore, 'get'>,
  { observe, stopped }: { readonly observe: Observe; readonly stopped: AbortSignal },
): Promise<UnmigratedKeys | null> {
  try {
    const unmigratedKeys = await findUnmigratedKeys(config, keys);
    if (unmigratedKeys)
      observe({ type: 'state.unmigrated_keys', ...unmigratedKeys, command: commandFor(unmigratedKeys) });
    return unmigratedKeys;
  } catch (error) {
    if (!(error instanceof Outage)) throw error;
    const timer = setTimeout(() => {
      stopped.removeEventListener('abort', stop);
      reportUnmigratedKeys(config, keys, { observe, stopped }).catch((bug: unknown) =>
        observe({ type: 'bug', id: 'left-behind', error: bug }),
      );
    }, AGAIN).unref();
    const stop = () => clearTimeout(timer);
    if (stopped.aborted) stop();
    else stopped.addEventListener('abort', stop, { once: true });
    return null;
  }
}

/** What is wrong, and the command that mends it, for a person. */
export function unmigratedKeysText({ folder, keys, unknown }: UnmigratedKeys): string {
  return `${folder} has ${keys} keys, and Redis does not know at least ${unknown} of them: their requests are refused. To copy keys, counters and bans:
  ${commandFor({ folder })}`;
}

function commandFor({ folder }: Pick<UnmigratedKeys, 'folder'>): string {
  return `storegate state copy --from ${quoted(folder)} --to redis`;
}

/** As a shell reads it. */
function quoted(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
