import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createLargestFirst } from '../../src/common/largest-first.ts';

test('the first is the largest, whatever is put, changed and taken', () => {
  const action = fc.record({ item: fc.nat({ max: 20 }), bytes: fc.option(fc.nat({ max: 50 })) });
  fc.assert(
    fc.property(fc.array(action, { maxLength: 200 }), (actions) => {
      const heap = createLargestFirst<{ bytes: number; place: number }>();
      const items = Array.from({ length: 21 }, () => ({ bytes: 0, place: -1 }));
      for (const { item, bytes } of actions) {
        const changed = items[item]!;
        if (bytes === null) {
          heap.take(changed);
        } else {
          changed.bytes = bytes;
          heap.put(changed);
        }
        const inside = items.filter(({ place }) => place >= 0).map((one) => one.bytes);
        expect(heap.first?.bytes).toBe(inside.length === 0 ? undefined : Math.max(...inside));
      }
    }),
  );
});
