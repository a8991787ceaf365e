import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Outage } from '../../src/common/errors/outage.ts';
import { partName } from '../../src/ledger/names.ts';
import { TurnLost, type UsageStore } from '../../src/ledger/store.ts';
import { keyOf } from '../../src/state/redis/key-names.ts';
import { usageInRedis } from '../../src/state/redis/usage.ts';
import { openRowFile } from '../../src/state/rows/row-file.ts';
import { createRowWriter, RowWriteError } from '../../src/state/rows/row-writer.ts';
import { readUsageIn, usageInFolder } from '../../src/state/usage-folder.ts';
import { MemoryUsage } from '../support/ledger.ts';
import { redisForSuite } from '../support/redis/suite.ts';

const own = redisForSuite();
let folder: string;
beforeEach(async () => {
  await own.server.admin.flushall();
  folder = mkdtempSync(join(tmpdir(), 'storegate-usage-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

interface Opened {
  readonly store: UsageStore;
  readonly close: () => Promise<void>;
}

function inFolder(): Opened {
  const writer = createRowWriter(folder);
  const store = usageInFolder(folder, writer, (error) => {
    throw error;
  });
  async function close() {
    await store.close();
    await writer.close();
  }
  return { store, close };
}

const STORES: readonly (readonly [string, () => Opened])[] = [
  ['a data folder', inFolder],
  ['Redis', () => ({ store: usageInRedis(own.redis), close: async () => {} })],
];

const MINUTE = 60_000;
const part = (number: number, minute = MINUTE) =>
  partName({ minute, number, part: 0, process: 'host:1#a/ä b' });
const sum = (number: number) => `m1-${String(number).padStart(8, '0')}`;
/** Bytes that no text has. */
const bytes = (number: number) => Buffer.from([number, 0, 255, 10, 32]);

async function contentOf(store: Pick<UsageStore, 'index' | 'read'>) {
  const { parts, sizes } = await store.index();
  const names = [...sizes.keys()].sort();
  const found = await store.read(names);
  return {
    parts: Object.fromEntries([...parts].map(([name, { bytes }]) => [name, bytes.toString('hex')])),
    sums: Object.fromEntries(names.map((name, i) => [name, found[i]?.toString('hex')])),
    sizes: Object.fromEntries(sizes),
  };
}

const number = fc.nat(3);
const operation = fc.oneof(
  fc.record({
    do: fc.constant('put' as const),
    parts: fc.dictionary(fc.constantFrom('1', '2', '3'), number),
  }),
  fc.record({
    do: fc.constant('commit' as const),
    sums: fc.dictionary(fc.constantFrom('1', '2', '3'), fc.option(number)),
    parts: fc.subarray([1, 2, 3]),
  }),
);

describe.each(STORES)('the store of usage in %s', (_name, open) => {
  test('has parts and sums as they were stored last', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { maxLength: 12 }), async (operations) => {
        await own.server.admin.flushall();
        rmSync(folder, { recursive: true, force: true });
        const { store, close } = open();
        const model = new MemoryUsage();
        for (const one of operations) {
          if (one.do === 'put') {
            const all = Object.entries(one.parts);
            const parts = new Map(all.map(([n, value]) => [part(Number(n)), bytes(value)]));
            const { added } = await model.put(parts);
            expect(await store.put(parts)).toEqual({
              taken: [],
              added: store.mayLose > 0 ? added : new Set(),
            });
            continue;
          }
          for (const target of [store, model]) {
            const sums = Object.entries(one.sums).map(
              ([n, value]) => [sum(Number(n)), value === null ? null : bytes(value)] as const,
            );
            const taken = one.parts.map((n) => [part(n), null] as const);
            await target.inTurn((commit) => commit(new Map(sums), new Map(taken)));
          }
          expect(await contentOf(store)).toEqual(await contentOf(model));
        }
        await close();
        const again = open();
        expect(await contentOf(again.store)).toEqual(await contentOf(model));
        await again.close();
      }),
      { numRuns: 15 },
    );
  });

  test('knows how long a part was not stored again, and which process has ended', async () => {
    const { store, close } = open();
    await store.put(new Map([[part(1), bytes(1)]]));
    await store.put(new Map([[part(2), bytes(2)]]), true);
    const { parts } = await store.index();
    expect(parts.get(part(1))!.age).toBeLessThan(MINUTE);
    expect(parts.get(part(2))!.age).toBe(Number.POSITIVE_INFINITY);
    expect(await store.read([sum(1)])).toEqual([null]);
    await close();
  });

  test('takes more sums in a commit than Lua can unpack', async () => {
    const { store, close } = open();
    const names = Array.from({ length: 8_500 }, (_, i) => sum(i));
    await store.inTurn((commit) =>
      commit(new Map(names.map((name) => [name, bytes(1)])), new Map()),
    );
    expect((await store.index()).sizes.size).toBe(names.length);
    await store.inTurn((commit) => commit(new Map(names.map((name) => [name, null])), new Map()));
    expect((await store.index()).sizes.size).toBe(0);
    await close();
  });

  test('gives one turn at a time, and works on after an error', async () => {
    const { store, close } = open();
    const order: string[] = [];
    const turn = (name: string) =>
      store.inTurn(async (commit) => {
        order.push(`${name} begins`);
        await commit(new Map([[sum(1), bytes(1)]]), new Map());
        order.push(`${name} ends`);
      });
    await Promise.all([turn('one'), turn('other')]);
    const [first] = order[0]!.split(' ');
    expect(order.slice(0, 2)).toEqual([`${first} begins`, `${first} ends`]);
    const failing = store.inTurn(async () => {
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    await close();
  });
});

describe('a data folder', () => {
  test('changes nothing if a write fails, and then goes on', async () => {
    const { store, close } = inFolder();
    await store.put(new Map([[part(1), bytes(1)]]));
    const before = await contentOf(store);
    const other = openRowFile(folder);
    other.exec(
      "CREATE TRIGGER full BEFORE INSERT ON rows BEGIN SELECT RAISE(ABORT, 'the disk is full'); END",
    );
    await expect(store.put(new Map([[part(1), bytes(2)]]))).rejects.toThrow(RowWriteError);
    const commit = store.inTurn((commit) =>
      commit(new Map([[sum(1), bytes(1)]]), new Map([[part(1), null]])),
    );
    await expect(commit).rejects.toThrow('full');
    expect(await contentOf(store)).toEqual(before);
    other.exec('DROP TRIGGER full');
    other.close();
    await store.put(new Map([[part(1), bytes(3)]]));
    expect((await contentOf(store)).parts[part(1)]).toBe(bytes(3).toString('hex'));
    expect(await contentOf(readUsageIn(folder))).toEqual(await contentOf(store));
    await close();
  });

  test('takes the parts of earlier processes as those of processes that have ended', async () => {
    const one = inFolder();
    await one.store.put(new Map([[part(1), bytes(1)]]));
    await one.close();
    const next = inFolder();
    expect((await next.store.index()).parts.get(part(1))!.age).toBe(Number.POSITIVE_INFINITY);
    await next.close();
  });
});

describe('Redis', () => {
  test('refuses a part that a sum took of a silent process, and forgets it in time', async () => {
    const store = usageInRedis(own.redis);
    await store.put(new Map([[part(1), bytes(1)]]));
    await store.inTurn((commit) => commit(new Map([[sum(1), bytes(1)]]), new Map([[part(1), 7]])));
    const parts = new Map([1, 2].map((n) => [part(n), bytes(n)]));
    expect(await store.put(parts)).toEqual({
      taken: [{ name: part(1), requests: 7 }],
      added: new Set([part(2)]),
    });
    expect([...(await store.index()).parts.keys()]).toEqual([part(2)]);
    expect(await own.redis.pttl(keyOf.usage.taken)).toBeGreaterThan(0);
  });

  test('changes nothing for a gateway that lost its turn', async () => {
    const store = usageInRedis(own.redis);
    await store.put(new Map([[part(1), bytes(1)]]));
    const before = await contentOf(store);
    const late = store.inTurn(async (commit) => {
      await own.redis.del(keyOf.usage.turn);
      await commit(new Map([[sum(1), bytes(1)]]), new Map([[part(1), null]]));
    });
    await expect(late).rejects.toThrow(TurnLost);
    expect(await contentOf(store)).toEqual(before);
  });

  test('rejects with an outage what is not of this store', async () => {
    await own.redis.set(keyOf.usage.parts, 'x');
    await expect(usageInRedis(own.redis).index()).rejects.toThrow(Outage);
  });
});
