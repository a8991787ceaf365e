import { realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Config, RedisSettings } from '../../config/config.ts';
import { schemaErrors } from '../../config/schema/errors.ts';
import { TransferError } from '../../state/transfer/file-format.ts';

/** Where a state is, or will be. Paths are absolute. */
export type Place =
  | { readonly type: 'file'; readonly path: string }
  | { readonly type: 'folder'; readonly path: string }
  | { readonly type: 'redis'; readonly settings: RedisSettings };

/** Files of states have such names; so `copy` knows whether a path that is not there yet is to be a file or a folder. */
export const FILE_NAME = /\.(ndjson|jsonl)$/;

/** The state of the configuration. */
export function configuredPlace({ redis, data }: Config): Place {
  return redis ? { type: 'redis', settings: redis } : { type: 'folder', path: data };
}

/**
 * Reads a place: `redis` is the one of the configuration; `redis://…` another; a path is a folder, or a file where there is one or
 * its name says so. Throws TransferError, and never repeats a URL.
 */
export function placeOf(text: string, config: Config, cwd: string): Place {
  if (text === 'redis') {
    if (config.redis) return { type: 'redis', settings: config.redis };
    throw new TransferError('the configuration names no Redis: set REDIS_URL, or redis.url in gateway.yaml');
  }
  if (/^rediss?:/i.test(text)) return { type: 'redis', settings: settingsOf(text, config) };
  if (text === '') throw new TransferError('name a data folder, a file or a Redis');
  const path = resolve(cwd, text);
  const found = statSync(path, { throwIfNoEntry: false });
  const isFile = found ? !found.isDirectory() : FILE_NAME.test(text);
  return { type: isFile ? 'file' : 'folder', path };
}

/** Topology and passwords of the configuration belong to the URL of the configuration; any other names one Redis. */
function settingsOf(url: string, { redis }: Config): RedisSettings {
  if (redis?.url === url) return redis;
  const flaw = schemaErrors({ redis: { url } }, 'gateway').find(({ pointer }) => pointer === '/redis/url');
  if (flaw || !URL.canParse(url)) throw new TransferError('this is no URL of a Redis, such as redis://host:6379/0');
  return { ...ALONE, url };
}

/** Moving waits by its own patience, and no policy decides meanwhile. */
const ALONE: Omit<RedisSettings, 'url'> = {
  topology: 'single',
  nodes: [],
  master: '',
  sentinelPassword: null,
  deadline: 2_000,
  failureThreshold: 1,
  onOutage: 'deny',
  shareRemaining: false,
  readyDuringOutage: false,
  refusalCacheTtl: 0,
  keyCacheTtl: 0,
  keyCache: { enabled: false, resyncInterval: 0, maxAge: 0 },
};

/** Throws TransferError where both are one. */
export function refuseSame(from: Place, to: Place): void {
  if (identityOf(from) === identityOf(to)) throw new TransferError('both places are the same: nothing was done');
}

function identityOf(place: Place): string {
  if (place.type !== 'redis') return realPath(place.path);
  const { host, pathname } = new URL(place.settings.url);
  return `redis ${host} ${pathname.replace(/^\/0?$/, '')}`;
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    // It is not there yet.
    return path;
  }
}
