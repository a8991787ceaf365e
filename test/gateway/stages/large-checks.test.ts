import { describe, expect, test } from '@jest/globals';
import { LargeChecks } from '../../../src/gateway/stages/large-checks.ts';
import { exchangeOf } from '../../support/exchange.ts';
import { standStill } from '../../support/stand-still.ts';

class Unwanted extends Error {}
const gone = () => new Unwanted();
const wanted = () => true;

const once = <T>(work: () => T): Iterator<void, T, void> => ({ next: () => ({ done: true, value: work() }) });

describe('checks of large bodies', () => {
  test('run one at a time, keys in turns, each key in its order', async () => {
    const checks = new LargeChecks();
    const done: string[] = [];
    const names = ['a1', 'a2', 'a3', 'b1', 'c1', 'b2'];
    await Promise.all(
      names.map((name) =>
        checks.run(
          name[0]!,
          once(() => done.push(name)),
          wanted,
          gone,
        ),
      ),
    );
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
    await Promise.all(Array.from({ length: 4 }, () => checks.run('a', once(check), wanted, gone)));
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
      checks.run('a', once(fails), wanted, gone),
      checks.run('a', once(never), () => false, gone),
      checks.run('b', once(never), () => false, gone),
      checks.run(
        'a',
        once(() => 'fits'),
        wanted,
        gone,
      ),
    ]);
    expect(results).toEqual([
      { status: 'rejected', reason: expect.objectContaining({ message: 'unfit' }) },
      { status: 'rejected', reason: expect.any(Unwanted) },
      { status: 'rejected', reason: expect.any(Unwanted) },
      { status: 'fulfilled', value: 'fits' },
    ]);
    expect(
      await checks.run(
        'a',
        once(() => 'fits too'),
        wanted,
        gone,
      ),
    ).toBe('fits too');
  });

  test('begin with bodies of 64 KiB', () => {
    const checks = new LargeChecks();
    const by = { check: (body: Buffer) => body.length };
    const check = (bytes: number) => checks.inTurn(exchangeOf(), 'a', Buffer.alloc(bytes), by);
    expect([64 * 1024 - 1, 64 * 1024].map(check)).toEqual([64 * 1024 - 1, expect.any(Promise)]);
  });

  test('let the event loop turn between their steps', async () => {
    const checks = new LargeChecks();
    const done: string[] = [];
    function* steps(name: string): Generator<void, void, void> {
      for (const step of [1, 2, 3]) {
        done.push(`${name}${step}`);
        setImmediate(() => done.push('others'));
        standStill(3);
        yield;
      }
    }
    await Promise.all(['a', 'b'].map((name) => checks.run('key', steps(name), wanted, gone)));
    expect(done.filter((one) => one !== 'others')).toEqual(['a1', 'a2', 'a3', 'b1', 'b2', 'b3']);
    const adjacent = done.filter((one, i) => one !== 'others' && /[123]/.test(done[i + 1] ?? ''));
    expect(adjacent).toEqual([]);
  });

  test('end with their client', async () => {
    const checks = new LargeChecks();
    let steps = 0;
    function* endless(): Generator<void, void, void> {
      for (;;) {
        steps++;
        standStill(3);
        yield;
      }
    }
    const left = checks.run('a', endless(), () => steps < 2, gone);
    await expect(left).rejects.toBeInstanceOf(Unwanted);
    expect(
      await checks.run(
        'a',
        once(() => 'fits'),
        wanted,
        gone,
      ),
    ).toBe('fits');
  });
});
