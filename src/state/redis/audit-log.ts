import { Outage } from '../../errors/outage.ts';
import {
  type AuditDraft,
  type AuditEntry,
  type AuditLog,
  type AuditNote,
  failedEntry,
  IDEMPOTENCY_LIFETIME,
  IdempotencyConflict,
  type IdempotentAnswer,
  isAbout,
} from '../../operators/audit-log.ts';
import { asked } from './asking.ts';
import type { Connection } from './client.ts';
import { keyOf } from './key-names.ts';

/** Entries read at once while the audit log is searched. */
const PAGE = 500;

/** An answer as it is kept; with the change, while it is not known to have been made whole. */
type Kept<C> = IdempotentAnswer & { readonly pending?: C };

/**
 * Makes changes that no one step of Redis can cover, since a Cluster keeps their parts in different places. The answer is put
 * down first, with the change it belongs to: a call that died half-way is finished when it is made again. Then comes the entry,
 * then the change; if it is refused, an entry `<action>.failed` takes the entry back.
 */
export class AuditedChanges<C> {
  readonly #redis: Connection;
  readonly #apply: (change: C) => Promise<void>;

  /** `apply` makes a change; making it twice must be as good as once. */
  constructor(redis: Connection, apply: (change: C) => Promise<void>) {
    this.#redis = redis;
    this.#apply = apply;
  }

  async make(note: AuditNote | null, change: C): Promise<void> {
    const idempotent = note?.idempotent ?? null;
    if (idempotent) await this.#claim({ ...idempotent, pending: change });
    try {
      if (note) await append(this.#redis, note.entry);
      await this.#apply(change);
    } catch (error) {
      // An outage leaves open what was done: then the call is finished, not begun again, when it is repeated.
      if (note && !(error instanceof Outage)) await this.#takeBack(note);
      throw error;
    }
    if (idempotent) await this.#settle(idempotent);
  }

  async answered(name: string): Promise<IdempotentAnswer | null> {
    const text = await asked(this.#redis.get(keyOf.idempotentAnswer(name)));
    if (text === null) return null;
    const { pending, ...idempotent } = JSON.parse(text) as Kept<C>;
    if (pending !== undefined) {
      await this.#apply(pending);
      await this.#settle(idempotent);
    }
    return idempotent;
  }

  /** The change was refused after its entry was written. */
  async #takeBack({ entry, idempotent }: AuditNote): Promise<void> {
    await append(this.#redis, failedEntry(entry));
    if (idempotent) await asked(this.#redis.del(keyOf.idempotentAnswer(idempotent.name)));
  }

  async #claim(kept: Kept<C>): Promise<void> {
    const name = keyOf.idempotentAnswer(kept.name);
    const taken = await asked(this.#redis.set(name, JSON.stringify(kept), 'PX', IDEMPOTENCY_LIFETIME, 'NX'));
    if (taken === null) throw new IdempotencyConflict('this call was answered before');
  }

  async #settle(idempotent: IdempotentAnswer): Promise<void> {
    await asked(
      this.#redis.set(
        keyOf.idempotentAnswer(idempotent.name),
        JSON.stringify(idempotent),
        'PX',
        IDEMPOTENCY_LIFETIME,
        'XX',
      ),
    );
  }
}

/** The audit log of all gateways: a list, whose only change is that it grows. */
export function auditLogInRedis(
  redis: Connection,
  auditedChanges: Pick<AuditedChanges<null>, 'make' | 'answered'>,
): AuditLog {
  return {
    async append({ entry, idempotent }) {
      await auditedChanges.make({ entry, idempotent }, null);
    },
    async list({ actor, action, target, below = Number.MAX_SAFE_INTEGER, limit }) {
      const found: AuditEntry[] = [];
      let end = Math.min(below - 1, await asked(redis.llen(keyOf.audit)));
      while (end > 0 && found.length < limit) {
        const start = Math.max(0, end - PAGE);
        const texts = await asked(redis.lrange(keyOf.audit, String(start), String(end - 1)));
        const entries = texts.map((text, i) => ({ ...(JSON.parse(text) as AuditDraft), number: start + i + 1 }));
        found.push(...entries.reverse().filter((entry) => fits(entry, { actor, action, target })));
        end = start;
      }
      return found.slice(0, limit);
    },
    forget: async (name) => void (await asked(redis.del(keyOf.idempotentAnswer(name)))),
    answered: (name) => auditedChanges.answered(name),
  };
}

async function append(redis: Connection, entry: AuditDraft): Promise<void> {
  await asked(redis.rpush(keyOf.audit, JSON.stringify(entry)));
}

type Asked = { readonly [K in 'actor' | 'action' | 'target']: string | undefined };

function fits(entry: AuditEntry, query: Asked): boolean {
  const { actor = entry.actor, action = entry.action, target = entry.target } = query;
  return actor === entry.actor && action === entry.action && isAbout(entry.target, target);
}
