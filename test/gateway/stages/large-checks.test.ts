import { describe, expect, test } from '@jest/globals';
import { LargeChecks } from '../../../src/gateway/stages/large-checks.ts';
import { ClientAbort } from '../../../src/gateway/wire/client-abort.ts';
import { exchangeOf } from '../../support/exchange.ts';
import { standStill } from '../../support/stand-still.ts';

const inOneStep = <T>(checks: LargeChecks, owner: string, work: () => T, left = false) =>
  checks.run(owner, { next: () => ({ done: true, value: work() }) }, { left });

describe('checks of large bodies', () => {
  test('run one at a time, keys in turns, each key in its order', async () => {
    const checks = new LargeChecks();
    const done: string[] = [];
    const names = ['a1', 'a2', 'a3', 'b1', 'c1', 'b2'];
    await Promise.all(names.map((name) => inOneStep(checks, name[0]!, () => done.push(name))));
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
    await Promise.all(Array.from({ length: 4 }, () => inOneStep(checks, 'a', check)));
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
      inOneStep(checks, 'a', fails),
      inOneStep(checks, 'a', never, true),
      inOneStep(checks, 'b', never, true),
      inOneStep(checks, 'a', () => 'fits'),
    ]);
    expect(results).toEqual([
      { status: 'rejected', reason: expect.objectContaining({ message: 'unfit' }) },
      { status: 'rejected', reason: expect.any(ClientAbort) },
      { status: 'rejected', reason: expect.any(ClientAbort) },
      { status: 'fulfilled', value: 'fits' },
    ]);
    expect(await inOneStep(checks, 'a', () => 'fits too')).toBe('fits too');
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
    await Promise.all(['a', 'b'].map((name) => checks.run('key', steps(name), { left: false })));
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
    const call = {
      get left() {
        return steps >= 2;
      },
    };
    await expect(checks.run('a', endless(), call)).rejects.toBeInstanceOf(ClientAbort);
    expect(await inOneStep(checks, 'a', () => 'fits')).toBe('fits');
  });
});
