import { Outage } from '../common/errors/outage.ts';
import type { Config } from '../config/config.ts';
import type { Observe } from '../observe/events.ts';
import { peekKeys } from '../records/embedded/peek.ts';
import type { KeyStore } from '../records/keys/store.ts';

const MOST = 1_000;
const AT_ONCE = 100;
/** Immediate retries, and milliseconds before the next. */
const TRIES = 3;
const AGAIN = 1_000;

/** Requests of keys that are missing in Redis are refused. */
export interface UnmigratedKeys {
  readonly folder: string;
  readonly keys: number;
  /** At least. */
  readonly unknown: number;
}

/** `keys` are those in Redis. Stops at the first missing batch or after `MOST`. Throws Outage. */
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

async function unknownAmong(
  ids: readonly string[],
  keys: Pick<KeyStore, 'get'>,
): Promise<number> {
  for (let at = 0; at < ids.length; at += AT_ONCE) {
    const found = await Promise.all(
      ids.slice(at, at + AT_ONCE).map((id) => keys.get(id)),
    );
    const unknown = found.filter((key) => key === null).length;
    if (unknown > 0) return unknown;
  }
  return 0;
}

/** If Redis does not respond, returns `null` and repeats the look-up until `stopped` aborts. */
export async function reportUnmigratedKeys(
  config: Pick<Config, 'redis' | 'data'>,
  keys: Pick<KeyStore, 'get'>,
  {
    observe,
    stopped,
  }: { readonly observe: Observe; readonly stopped: AbortSignal },
): Promise<UnmigratedKeys | null> {
  try {
    const unmigratedKeys = await findUnmigratedKeys(config, keys);
    if (unmigratedKeys)
      observe({
        type: 'state.unmigrated_keys',
        ...unmigratedKeys,
        command: commandFor(unmigratedKeys),
      });
    return unmigratedKeys;
  } catch (error) {
    if (!(error instanceof Outage)) throw error;
    const again = () =>
      reportUnmigratedKeys(config, keys, { observe, stopped });
    const failed = (bug: unknown) =>
      observe({ type: 'bug', id: 'left-behind', error: bug });
    setTimeout(
      () => void (stopped.aborted || again().catch(failed)),
      AGAIN,
    ).unref();
    return null;
  }
}

export function unmigratedKeysText({
  folder,
  keys,
  unknown,
}: UnmigratedKeys): string {
  return `${folder} has ${keys} keys, and Redis does not know at least ${unknown} of them: their requests are refused. Stop all gateways, then copy keys, counters and bans:
  ${commandFor({ folder })}`;
}

function commandFor({ folder }: Pick<UnmigratedKeys, 'folder'>): string {
  return `storegate state copy --from ${quoted(folder)} --to redis`;
}

function quoted(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
