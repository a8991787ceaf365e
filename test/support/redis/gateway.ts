import type { RedisSettings } from '../../../src/config/config.ts';
import type { Event } from '../../../src/observe/events.ts';
import { openRedis } from '../../../src/records/redis/open.ts';
import type { Storage } from '../../../src/records/storage.ts';
import { KEPT } from '../audit.ts';
import { DEFAULTS } from './settings.ts';

export interface SharedGateway extends Storage {
  readonly events: Event[];
  eventCount(type: Event['type']): number;
}

/** The deadline is long unless a test sets it: a busy test machine is not an outage. */
export async function openShared(
  settings: Partial<RedisSettings> & { readonly url: string },
  {
    workers = 1,
    lookAgain = 60_000,
    folder = null,
  }: {
    readonly workers?: number;
    readonly lookAgain?: number;
    readonly folder?: string | null;
  } = {},
): Promise<SharedGateway> {
  const events: Event[] = [];
  const storage = await openRedis(
    { ...DEFAULTS, deadline: 60_000, ...settings },
    { observe: (event) => void events.push(event), audit: KEPT, workers, lookAgain, folder },
  );
  return {
    ...storage,
    events,
    eventCount: (type) => events.filter((event) => event.type === type).length,
  };
}
