import type { Certificates } from '../config/certificates.ts';
import type { Config } from '../config/config.ts';
import type { Observe } from '../observe/events.ts';
import { makeToken } from '../records/operators/tokens.ts';
import {
  type Announcer,
  openAnnouncer,
  redisPlace,
} from '../state/announcements.ts';

/** Lets commands in the data folder reach this gateway, whatever its state. */
export class LocalAccess {
  /** Valid for this run only; admits whoever can read the data folder. */
  readonly token = makeToken();
  readonly #config: Pick<Config, 'data' | 'redis'>;
  readonly #observe: Observe;
  #announcer: Announcer | null = null;

  constructor(config: Pick<Config, 'data' | 'redis'>, observe: Observe) {
    this.#config = config;
    this.#observe = observe;
  }

  /** A read-only folder or full disk refuses neither a start nor a reload. */
  announce(url: string, { admin }: Certificates): void {
    const { data, redis } = this.#config;
    try {
      this.#announcer ??= openAnnouncer(data);
      this.#announcer.announce({
        url,
        token: this.token,
        certificates: admin?.pairs.map(({ cert }) => cert) ?? [],
        redis: redis && redisPlace(redis.url),
      });
    } catch (error) {
      const { message } = error as Error;
      this.#observe({
        type: 'state.warning',
        warning: `commands need --url and a token, because they do not find this gateway in its data folder: ${message}`,
      });
    }
  }

  close(): void {
    this.#announcer?.close();
  }
}
