import { describe, expect, test } from '@jest/globals';
import { LargeChecks } from '../../../src/gateway/stages/large-checks.ts';
import { exchangeOf } from '../../support/exchange.ts';
import { standStill } from '../../support/stand-still.ts';

class Unwanted extends Error {}
const gone = () => new Unwanted();
const wanted = () => true;

describe('checks of large bodies', () => {
  test('run one at a time, keys in turns, each key in its order', async () => {
    const checks = new LargeChecks();
    const done: string[] = [];
    const names = ['a1', 'a2', 'a3', 'b1', 'c1', 'b2'];
    await Promise.all(names.map((name) => checks.run(name[0]!, () => done.push(name), wanted, gone)));
    expect(done).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2']);
  });

  test('yield to the event loop for as long as they took', async () => {
    const checks = new LargeChecks();
    const gaps: number[] = [];
    let last = 0;
    const check = () => {
      if (last > 0) gaps.push(performance.now() - last);
      standStill(20);
      last = performance.now();
    };
    await Promise.all(Array.from({ length: 4 }, () => checks.run('a', check, wanted, gone)));
    expect(gaps.length).toBe(3);
    for (const gap of gaps) expect(gap).toBeGreaterThanOrEqual(19);
  });

  test('continue after a check that fails or is cancelled', async () => {
    const checks = new LargeChecks();
    const fails = () => {
      throw new Error('unfit');
    };
    const never = () => {
      throw new Error('was checked');
    };
    const results = await Promise.allSettled([
      checks.run('a', fails, wanted, gone),
      checks.run('a', never, () => false, gone),
      checks.run('b', never, () => false, gone),
      checks.run('a', () => 'fits', wanted, gone),
    ]);
    expect(results).toEqual([
      { status: 'rejected', reason: expect.objectContaining({ message: 'unfit' }) },
      { status: 'rejected', reason: expect.any(Unwanted) },
      { status: 'rejected', reason: expect.any(Unwanted) },
      { status: 'fulfilled', value: 'fits' },
    ]);
    expect(await checks.run('a', () => 'fits too', wanted, gone)).toBe('fits too');
  });

  test('begin with bodies of 64 KiB', () => {
    const checks = new LargeChecks();
    const check = (bytes: number) => checks.inTurn(exchangeOf(), 'a', Buffer.alloc(bytes), () => bytes);
    expect([64 * 1024 - 1, 64 * 1024].map(check)).toEqual([64 * 1024 - 1, expect.any(Promise)]);
  });
});
