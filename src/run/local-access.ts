import type { Certificates } from '../config/certificates.ts';
import type { Config } from '../config/config.ts';
import type { Observe } from '../observe/events.ts';
import { makeToken } from '../records/operators/tokens.ts';
import {
  type Announcer,
  openAnnouncer,
  redisPlace,
} from '../state/announcements.ts';

/**
 * Lets commands in the data folder reach this gateway, whatever its state. A read-only folder or
 * full disk refuses neither a start nor a reload, and delays no stop.
 */
export function createLocalAccess(
  { data, redis }: Pick<Config, 'data' | 'redis'>,
  observe: Observe,
) {
  /** Valid for this run only; admits everyone who can read the data folder. */
  const token = makeToken();
  let announcer: Announcer | null = null;
  let isClosed = false;

  function orWarn(act: () => void, warning: string): void {
    try {
      act();
    } catch (error) {
      const { message } = error as Error;
      observe({ type: 'state.warning', warning: `${warning}: ${message}` });
    }
  }

  return {
    token,
    /** Does nothing once it is closed: the place may be that of another gateway by then. */
    announce(url: string, { admin }: Certificates): void {
      if (isClosed) return;
      orWarn(() => {
        announcer ??= openAnnouncer(data);
        announcer.announce({
          url,
          token,
          certificates: admin?.pairs.map(({ cert }) => cert) ?? [],
          redis: redis && redisPlace(redis.url),
        });
      }, 'commands need --url and a token, because they do not find this gateway in its data folder');
    },
    close(): void {
      isClosed = true;
      orWarn(
        () => announcer?.close(),
        'the announcement of this gateway stays in its data folder, until a command removes it',
      );
    },
  };
}
