import { MINUTE } from '../../common/time.ts';
import type { RedisSettings } from '../../config/config.ts';
import type { Observe } from '../../observe/events.ts';
import { throttle } from '../../observe/throttle.ts';
import { KeyCache } from '../shared/key-cache/key-cache.ts';
import { KeyCacheSynchronizer } from '../shared/key-cache/synchronizer.ts';
import type { LastKnownCounters } from '../shared/last-known-counters/entries.ts';
import { lastKnownCountersIn } from '../shared/last-known-counters/folder.ts';
import { keySource, nameOf } from './key-source.ts';
import type { Started } from './start.ts';

/** Milliseconds. */
const WARNING_INTERVAL = MINUTE;

/** `null`: disabled. */
export function openKeyCache(settings: RedisSettings, folder: string | null, observe: Observe): KeyCache | null {
  const { enabled, maxAge } = settings.keyCache;
  if (!enabled || folder === null) return null;
  return new KeyCache({
    folder,
    source: nameOf(settings),
    maxAge,
    failed: warn(observe, `cannot read the copy of keys in ${folder}`),
  });
}

/** Does nothing while another process maintains the copy. */
export function startKeyCacheSync(
  { redis, bus, checks, data }: Pick<Started, 'redis' | 'bus' | 'checks' | 'data'>,
  settings: RedisSettings,
  { folder, observe }: { readonly folder: string; readonly observe: Observe },
): KeyCacheSynchronizer {
  return new KeyCacheSynchronizer({
    folder,
    source: keySource(redis, settings, { isFit: () => checks.passed, data }),
    bus,
    sweep: settings.keyCache.resyncInterval,
    failed: warn(observe, `cannot keep a copy of the keys in ${folder}`),
  });
}

/** For a restart during an outage. */
export function openLastKnownCounters(
  folder: string,
  { worker, workers, observe }: { readonly worker: number; readonly workers: number; readonly observe: Observe },
): LastKnownCounters | null {
  return lastKnownCountersIn({
    folder,
    worker,
    workers,
    failed: warn(observe, `cannot store last-known counters in ${folder}`),
  });
}

function warn(observe: Observe, what: string): (error: unknown) => void {
  const throttled = throttle(WARNING_INTERVAL);
  return (error) => {
    if (throttled(what) === null) return;
    observe({ type: 'state.warning', warning: `${what}: ${error instanceof Error ? error.message : String(error)}` });
  };
}
