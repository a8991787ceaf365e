import type { Connection } from '../../state/redis/client.ts';
import { keyOf, OUTBOX_TTL } from '../../state/redis/key-names.ts';
import { loadScript } from '../../state/redis/scripts.ts';
import { withTimeout } from '../../state/redis/timeouts.ts';
import type { Outbox, StoredEvent } from '../outbox.ts';

const enqueue = loadScript('enqueue-6.lua');
const readClock = loadScript('clock-1.lua');
const moveMark = loadScript('move-1.lua');

/** All its keys are in one slot. */
export function outboxInRedis(redis: Connection): Outbox {
  const { events, types, newest, marks, once: nameKey } = keyOf.outbox;

  const readNewest = async () => Number(await withTimeout(redis.get(newest)));

  return {
    // The clocks of gateways differ.
    time: async () =>
      (await withTimeout(readClock(redis, [marks], []))) as number,
    newest: readNewest,
    async add({ message, endpoints, once, most, now }) {
      const { name, since, until, ends = name } = once;
      const stored: Omit<StoredEvent, 'number'> = { ...message, at: now };
      const keys = [events, types, newest, marks, nameKey(name), nameKey(ends)];
      const args = [
        now,
        since,
        until,
        most,
        OUTBOX_TTL,
        message.type,
        JSON.stringify(stored),
        ...endpoints,
      ];
      return (await withTimeout(enqueue(redis, keys, args))) === 1;
    },
    async read(above, limit) {
      const entries = await withTimeout(
        redis.xrange(events, above + 1, '+', 'COUNT', limit),
      );
      return entries.map(([id, [, event]]) => {
        const stored = JSON.parse(event!) as Omit<StoredEvent, 'number'>;
        return { ...stored, number: Number.parseInt(id, 10) };
      });
    },
    async count(above) {
      const size = (await readNewest()) - above;
      const counts = new Map<string, number>();
      if (size <= 0) return counts;
      for (const type of await withTimeout(redis.lrange(types, -size, -1)))
        counts.set(type, (counts.get(type) ?? 0) + 1);
      return counts;
    },
    mark: (name) => withTimeout(redis.hget(marks, name)),
    move: async (name, from, to) =>
      (await withTimeout(moveMark(redis, [marks], [name, from ?? '', to]))) ===
      1,
    // The connection belongs to the caller.
    close: () => {},
  };
}
