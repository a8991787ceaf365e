import { Outage } from '../../errors/outage.ts';
import {
  type Deed,
  type Entry,
  type Journal,
  ONCE_LIFE,
  type Once,
  OnceTaken,
  type Trail,
} from '../../operators/audit-log.ts';
import { asked } from './asking.ts';
import type { Connection } from './client.ts';
import { keyOf } from './key-names.ts';

/** Entries read at once while the journal is searched. */
const PAGE = 500;

/** An answer as it is kept; with the change, while it is not known to have been made whole. */
type Kept<C> = Once & { readonly pending?: C };

/**
 * Trails of changes that no one step of Redis can cover, since a Cluster keeps their parts in different places. The answer
 * is put down first, with the change it belongs to: a call that died half-way is finished when it is made again.
 */
export class Trails<C> {
  readonly #redis: Connection;
  readonly #apply: (change: C) => Promise<void>;

  /** `apply` makes a change; making it twice must be as good as once. */
  constructor(redis: Connection, apply: (change: C) => Promise<void>) {
    this.#redis = redis;
    this.#apply = apply;
  }

  async make(trail: Trail | null, change: C): Promise<void> {
    const once = trail?.once ?? null;
    if (once) await this.#claim({ ...once, pending: change });
    try {
      if (trail) await append(this.#redis, trail.deed);
      await this.#apply(change);
    } catch (error) {
      // An outage leaves open what was done: then the call is finished, not begun again, when it is repeated.
      if (once && !(error instanceof Outage)) await asked(this.#redis.del(keyOf.once(once.name)));
      throw error;
    }
    if (once) await this.#settle(once);
  }

  async answered(name: string): Promise<Once | null> {
    const text = await asked(this.#redis.get(keyOf.once(name)));
    if (text === null) return null;
    const { pending, ...once } = JSON.parse(text) as Kept<C>;
    if (pending !== undefined) {
      await this.#apply(pending);
      await this.#settle(once);
    }
    return once;
  }

  async #claim(kept: Kept<C>): Promise<void> {
    const name = keyOf.once(kept.name);
    const taken = await asked(this.#redis.set(name, JSON.stringify(kept), 'PX', ONCE_LIFE, 'NX'));
    if (taken === null) throw new OnceTaken('this call was answered before');
  }

  async #settle(once: Once): Promise<void> {
    await asked(this.#redis.set(keyOf.once(once.name), JSON.stringify(once), 'PX', ONCE_LIFE, 'XX'));
  }
}

/** The journal of all gateways: a list, whose only change is that it grows. */
export function journalInRedis(redis: Connection, trails: Pick<Trails<null>, 'make' | 'answered'>): Journal {
  return {
    async append({ deed, once }) {
      await trails.make({ deed, once }, null);
    },
    async list({ actor, action, target, below = Number.MAX_SAFE_INTEGER, limit }) {
      const found: Entry[] = [];
      let end = Math.min(below - 1, await asked(redis.llen(keyOf.audit)));
      while (end > 0 && found.length < limit) {
        const start = Math.max(0, end - PAGE);
        const texts = await asked(redis.lrange(keyOf.audit, String(start), String(end - 1)));
        const entries = texts.map((text, i) => ({ ...(JSON.parse(text) as Deed), number: start + i + 1 }));
        found.push(...entries.reverse().filter((entry) => fits(entry, { actor, action, target })));
        end = start;
      }
      return found.slice(0, limit);
    },
    forget: async (name) => void (await asked(redis.del(keyOf.once(name)))),
    answered: (name) => trails.answered(name),
  };
}

async function append(redis: Connection, deed: Deed): Promise<void> {
  await asked(redis.rpush(keyOf.audit, JSON.stringify(deed)));
}

type Asked = { readonly [K in 'actor' | 'action' | 'target']: string | undefined };

function fits(entry: Entry, query: Asked): boolean {
  return (['actor', 'action', 'target'] as const).every(
    (name) => query[name] === undefined || query[name] === entry[name],
  );
}
