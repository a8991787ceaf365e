import { setImmediate } from 'node:timers/promises';
import { DAY, HOUR } from '../common/time.ts';
import type { KeyStore } from '../keys/store.ts';
import { remembered, timeOf, type WebhookEvent } from './event.ts';
import type { Outbox } from './outbox.ts';

/** Milliseconds between two scans of all keys, by any gateway. */
const EVERY = HOUR;
const MARK = 'expiring';

/** Scans all keys once an hour, in parts and on one gateway, for those that expire soon. `ahead`: milliseconds. */
export async function sweepExpiring(
  keys: Pick<KeyStore, 'read'>,
  outbox: Outbox,
  { ahead, now }: { readonly ahead: number; readonly now: number },
  add: (told: WebhookEvent) => Promise<void>,
): Promise<void> {
  const before = await outbox.mark(MARK);
  if (before !== null && before <= now && now < before + EVERY) return;
  if (!(await outbox.move(MARK, before, now))) return;
  for await (const part of keys.read()) {
    for (const { id, account, plan, expiresAt, revokedAt } of part) {
      if (expiresAt === null || revokedAt !== null || expiresAt <= now || expiresAt > now + ahead) continue;
      const data = { key: id, account, plan, expires: timeOf(expiresAt) };
      await add(remembered('key.expiring', now, `${id} ${expiresAt}`, expiresAt + DAY, data));
    }
    await setImmediate();
  }
}
