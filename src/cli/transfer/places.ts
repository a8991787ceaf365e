import { existsSync, realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Config, RedisSettings } from '../../config/config.ts';
import { converted, NO_SURROUNDINGS } from '../../config/conversions.ts';
import { schemaErrors } from '../../config/schema/errors.ts';
import { schemaOf } from '../../config/schema/schema.ts';
import { TransferError } from '../../records/transfer/form.ts';

/** Paths are absolute. */
export type Place =
  | { readonly type: 'file'; readonly path: string }
  | { readonly type: 'folder'; readonly path: string }
  | { readonly type: 'redis'; readonly settings: RedisSettings };

/** A path that does not exist yet is a file if it has such a name, otherwise a folder. */
const FILE_NAME = /\.(ndjson|jsonl)$/;

export function configuredPlace({ redis, data }: Config): Place {
  return redis
    ? { type: 'redis', settings: redis }
    : { type: 'folder', path: data };
}

/** Throws TransferError, without the URL. */
export function placeOf(text: string, config: Config, cwd: string): Place {
  if (text === 'redis') {
    if (config.redis) return { type: 'redis', settings: config.redis };
    throw new TransferError(
      'The configuration has no Redis. Set REDIS_URL, or redis.url in gateway.yaml.',
    );
  }
  if (/^rediss?:/i.test(text))
    return { type: 'redis', settings: settingsOf(text, config) };
  if (text === '')
    throw new TransferError('Use a data folder, a file or a Redis URL.');
  const path = resolve(cwd, text);
  const found = statSync(path, { throwIfNoEntry: false });
  const isFile = found ? !found.isDirectory() : FILE_NAME.test(text);
  return { type: isFile ? 'file' : 'folder', path };
}

/**
 * Topology and passwords of the configuration apply to its own URL only. A copy needs no outage
 * policy.
 */
function settingsOf(url: string, { redis }: Config): RedisSettings {
  if (redis?.url === url) return redis;
  const flaw = schemaErrors({ redis: { url } }, 'gateway').find(
    ({ pointer }) => pointer === '/redis/url',
  );
  if (flaw || !URL.canParse(url))
    throw new TransferError('Invalid Redis URL. Example: redis://host:6379/0');
  return converted(
    { url },
    schemaOf('gateway').properties!.redis!,
    NO_SURROUNDINGS,
  ) as RedisSettings;
}

/** Throws TransferError if both places are the same. */
export function refuseSame(from: Place, to: Place): void {
  if (identityOf(from) === identityOf(to))
    throw new TransferError(
      'Source and target are the same. Nothing was done.',
    );
}

function identityOf(place: Place): string {
  if (place.type === 'redis') {
    const { host, pathname } = new URL(place.settings.url);
    return `redis ${host} ${pathname.replace(/^\/0?$/, '')}`;
  }
  // It may not exist yet.
  return existsSync(place.path) ? realpathSync(place.path) : place.path;
}
