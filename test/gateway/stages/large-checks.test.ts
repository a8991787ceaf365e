import { describe, expect, test } from '@jest/globals';
import type { QueueOwner } from '@storegate/http1';
import { createLargeChecks, type LargeChecks } from '../../../src/gateway/stages/large-checks.ts';
import { ClientAbort } from '../../../src/gateway/wire/client-abort.ts';
import { blockEventLoop } from '../../support/block-event-loop.ts';
import { exchangeOf } from '../../support/exchange.ts';

const owner = (member: string, group = 'free', weight = 1): QueueOwner => ({
  group,
  weight,
  member,
});

const inOneStep = <T>(checks: LargeChecks, member: string, work: () => T, remaining = false) =>
  checks.run(owner(member), { next: () => ({ done: true, value: work() }) }, { left: remaining });

describe('checks of large bodies', () => {
  test('run one at a time, accounts in turns, each account in its order', async () => {
    const checks = createLargeChecks();
    const done: string[] = [];
    const names = ['a1', 'a2', 'a3', 'b1', 'c1', 'b2'];
    await Promise.all(names.map((name) => inOneStep(checks, name[0]!, () => done.push(name))));
    expect(done).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2']);
  });

  test('share by weight among plans, however many accounts a plan has, and those of a plan are checked one after another', async () => {
    const checks = createLargeChecks();
    const turns: string[] = [];
    function* steps(name: string): Generator<void, void, void> {
      for (let step = 0; step < 8; step++) {
        turns.push(name);
        blockEventLoop(2);
        yield;
      }
    }
    const free = ['f1', 'f2', 'f3'].map((name) =>
      checks.run(owner(name), steps(name), { left: false }),
    );
    const paid = checks.run(owner('p1', 'business', 8), steps('p1'), { left: false });
    await paid;
    const before = turns.join(' ');
    await Promise.all(free);
    expect(before.replaceAll('f1', '').trim().split(/ +/)).toEqual(new Array(8).fill('p1'));
    expect(before.split(' ').filter((name) => name === 'f1').length).toBeLessThan(6);
    expect(turns.filter((name) => name.startsWith('f'))).toEqual(
      ['f1', 'f2', 'f3'].flatMap((name) => new Array(8).fill(name)),
    );
  });

  test('that have begun end with their client, and the next of their plan follows', async () => {
    const checks = createLargeChecks();
    const call = { left: false };
    function* endless(): Generator<void, void, void> {
      for (;;) {
        blockEventLoop(3);
        call.left = true;
        yield;
      }
    }
    const remaining = checks.run(owner('a'), endless(), call);
    const many = Array.from({ length: 2_000 }, () => inOneStep(checks, 'b', () => 'checked', true));
    const next = inOneStep(checks, 'c', () => 'fits');
    const results = await Promise.allSettled([remaining, ...many]);
    expect(new Set(results.map(({ status }) => status))).toEqual(new Set(['rejected']));
    expect(await next).toBe('fits');
  });

  test('yield to the event loop for as long as they took', async () => {
    const checks = createLargeChecks();
    const gaps: number[] = [];
    let last = 0;
    const check = () => {
      if (last > 0) gaps.push(performance.now() - last);
      blockEventLoop(20);
      last = performance.now();
    };
    await Promise.all(Array.from({ length: 4 }, () => inOneStep(checks, 'a', check)));
    expect(gaps.length).toBe(3);
    for (const gap of gaps) expect(gap).toBeGreaterThanOrEqual(19);
  });

  test('continue after a check that fails or is cancelled', async () => {
    const checks = createLargeChecks();
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
    const checks = createLargeChecks();
    const by = { check: (body: Buffer) => body.length };
    const check = (bytes: number) =>
      checks.inTurn(exchangeOf(), owner('a'), Buffer.alloc(bytes), by);
    expect([64 * 1024 - 1, 64 * 1024].map(check)).toEqual([64 * 1024 - 1, expect.any(Promise)]);
  });

  test('include those of small bodies that take longer than a turn', async () => {
    const checks = createLargeChecks();
    const others: string[] = [];
    const by = (count: number) => ({
      check: (): string[] => [],
      *steps() {
        for (let step = 1; step < count; step++) {
          blockEventLoop(3);
          yield;
          if (step === 1) setImmediate(() => others.push('others'));
        }
        return [...others];
      },
    });
    const small = Buffer.alloc(10);
    expect(checks.inTurn(exchangeOf(), owner('a'), small, by(1))).toEqual([]);
    const long = checks.inTurn(exchangeOf(), owner('a'), small, by(4));
    expect(long).toBeInstanceOf(Promise);
    expect(await long).toEqual(['others']);
  });

  test('let the event loop turn between their steps', async () => {
    const checks = createLargeChecks();
    const done: string[] = [];
    function* steps(name: string): Generator<void, void, void> {
      for (const step of [1, 2, 3]) {
        done.push(`${name}${step}`);
        setImmediate(() => done.push('others'));
        blockEventLoop(3);
        yield;
      }
    }
    await Promise.all(
      ['a', 'b'].map((name) => checks.run(owner('key'), steps(name), { left: false })),
    );
    expect(done.filter((one) => one !== 'others')).toEqual(['a1', 'a2', 'a3', 'b1', 'b2', 'b3']);
    const adjacent = done.filter((one, i) => one !== 'others' && /[123]/.test(done[i + 1] ?? ''));
    expect(adjacent).toEqual([]);
  });

  test('end with their client', async () => {
    const checks = createLargeChecks();
    let steps = 0;
    function* endless(): Generator<void, void, void> {
      for (;;) {
        steps++;
        blockEventLoop(3);
        yield;
      }
    }
    const call = {
      get left() {
        return steps >= 2;
      },
    };
    await expect(checks.run(owner('a'), endless(), call)).rejects.toBeInstanceOf(ClientAbort);
    expect(await inOneStep(checks, 'a', () => 'fits')).toBe('fits');
  });
});
