import { setImmediate } from 'node:timers/promises';
import { DAY, HOUR } from '../common/time.ts';
import type { KeyStore } from '../records/keys/store.ts';
import type { Outbox } from '../records/outbox.ts';
import { timeOf, uniqueEvent, type WebhookEvent } from './event.ts';

const MARK = 'expiring';

/** Once an hour, on one gateway. `ahead`: milliseconds. */
export async function notifyExpiring(
  keys: Pick<KeyStore, 'readExpiring'>,
  outbox: Outbox,
  { ahead, now }: { readonly ahead: number; readonly now: number },
  add: (event: WebhookEvent) => Promise<void>,
): Promise<void> {
  const before = await outbox.mark(MARK);
  const age = before === null ? HOUR : now - Number(before);
  if (age >= 0 && age < HOUR) return;
  if (!(await outbox.move(MARK, before, `${now}`))) return;
  for await (const part of keys.readExpiring(now, now + ahead)) {
    for (const { id, account, plan, expiresAt } of part) {
      const data = { key: id, account, plan, expires: timeOf(expiresAt!) };
      await add(
        uniqueEvent(
          'key.expiring',
          now,
          `${id} ${expiresAt}`,
          expiresAt! + DAY,
          data,
        ),
      );
    }
    await setImmediate();
  }
}
