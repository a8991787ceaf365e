import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { PoolBusy } from '../src/pool-busy.ts';
import { createUploadSlots, type UploadSlot } from '../src/upload-slots.ts';

const NEVER = Number.POSITIVE_INFINITY;
const OWNER = { group: '', weight: 1, member: '' };

type Step = readonly ['take' | 'free' | 'leave' | 'connections', number];

const steps = fc.array(
  fc.tuple(
    fc.constantFrom<Step[0]>('take', 'take', 'free', 'leave', 'connections'),
    fc.nat({ max: 9 }),
  ),
  { maxLength: 60 },
);

const turn = () => new Promise(setImmediate);

test('at most half of the connections have an upload, none stays free while one waits, and each gets its turn', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      let connections = 4;
      const slots = createUploadSlots(connections, 100);
      const held: UploadSlot[] = [];
      const leaves: (() => void)[] = [];
      const order: number[] = [];
      const remaining: number[] = [];
      let count = 0;
      for (const [what, n] of all) {
        if (what === 'take') {
          const name = count++;
          let waits = false;
          const slot = slots.take(OWNER, NEVER, {
            waits(leave) {
              waits = true;
              leaves.push(() => {
                leave();
                if (!order.includes(name)) remaining.push(name);
              });
            },
          });
          expect(waits).toBe(slot instanceof Promise);
          const hold = (one: UploadSlot) => {
            order.push(name);
            held.push(one);
          };
          if (slot instanceof Promise) void slot.then(hold);
          else hold(slot);
        } else if (what === 'free' && held.length > 0) {
          const [one] = held.splice(n % held.length, 1);
          one!.free();
          one!.free();
        } else if (what === 'leave' && leaves.length > 0) leaves[n % leaves.length]!();
        else if (what === 'connections') {
          connections = n + 1;
          slots.use(connections, 100);
        }
        const before = held.length;
        await turn();
        const most = Math.max(1, Math.floor(connections / 2));
        // Fewer connections end no upload.
        expect(held.length).toBeLessThanOrEqual(Math.max(most, before));
        if (slots.waiting > 0) expect(held.length).toBeGreaterThanOrEqual(most);
      }
      while (held.length > 0) {
        held.pop()!.free();
        await turn();
      }
      expect(slots.waiting).toBe(0);
      expect(order).toEqual([...order].sort((a, b) => a - b));
      expect([...order, ...new Set(remaining)].sort((a, b) => a - b)).toEqual([
        ...Array(count).keys(),
      ]);
    }),
  );
});

test('an upload that waits too long, or as one too many, is refused', async () => {
  const slots = createUploadSlots(2, 1);
  expect(slots.take(OWNER, NEVER)).not.toBeInstanceOf(Promise);
  const late = slots.take(OWNER, 10);
  await expect(slots.take(OWNER, NEVER)).rejects.toBeInstanceOf(PoolBusy);
  slots.refuseUntil(9, new PoolBusy(true));
  expect(slots.waiting).toBe(1);
  slots.refuseUntil(10, new PoolBusy(true));
  await expect(late).rejects.toMatchObject({ isLate: true });
});
