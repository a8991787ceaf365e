import { beforeEach, expect, test } from '@jest/globals';
import type { LastUseStore } from '../../src/records/keys/last-use-tracker.ts';
import type { OpenRecords } from '../support/records.ts';

/** The promises of `LastUseStore`, held against whatever implements it. */
export function keepsThePromisesOfLastUseStore(open: OpenRecords): void {
  let uses: LastUseStore;
  let others: LastUseStore;
  beforeEach(async () => {
    const { one, other } = await open();
    uses = one.uses;
    others = other.uses;
  });

  const at = Date.UTC(2026, 0, 1);

  test('a later use beats an earlier one, in any order and by any gateway', async () => {
    await uses.save(
      new Map([
        ['key_1', at],
        ['key_2', at + 1],
      ]),
      at,
    );
    await others.save(
      new Map([
        ['key_1', at + 1],
        ['key_2', at],
      ]),
      at,
    );
    const latest = new Map([
      ['key_1', at + 1],
      ['key_2', at + 1],
    ]);
    for (const store of [uses, others])
      expect(await store.load(['key_1', 'key_2'])).toEqual(latest);
  });

  test('a use of a clock that was an hour ahead does not hide later uses', async () => {
    const ahead = Date.now() + 3_600_000;
    await uses.save(new Map([['key_1', ahead]]), ahead);
    const now = Date.now();
    await others.save(new Map([['key_1', now]]), now);
    const [saved] = (await uses.load(['key_1'])).values();
    expect(saved).toBeGreaterThanOrEqual(now);
    expect(saved).toBeLessThan(now + 60_000);
  });

  test('keys that were never used are absent', async () => {
    await uses.save(new Map([['key_1', at]]), at);
    expect(await uses.load(['key_0', 'key_1', 'key_2'])).toEqual(new Map([['key_1', at]]));
    expect(await uses.load(['key_0'])).toEqual(new Map());
    await uses.save(new Map(), at);
    expect(await uses.load([])).toEqual(new Map());
  });

  test('thousands are saved and returned at once', async () => {
    const many = new Map(Array.from({ length: 5_300 }, (_, i) => [`key_${i}`, at + i]));
    await uses.save(many, at);
    expect(await others.load([...many.keys(), 'key_unknown'])).toEqual(many);
  });
}
