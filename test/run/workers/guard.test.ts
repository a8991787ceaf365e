import { describe, expect, test } from '@jest/globals';
import { createGuard } from '../../../src/common/callers/guard.ts';
import { remainingIn } from '../../../src/limits/admission.ts';
import type { Event } from '../../../src/observe/events.ts';
import { NoAnswer } from '../../../src/run/workers/channel.ts';
import { createSharedGuard, type SharedGuardOptions } from '../../../src/run/workers/guard.ts';
import { until } from '../../support/until.ts';

const SPAN = 60_000;

function primaryProcess(failures: number) {
  const guard = createGuard({ failures, window: SPAN });
  const primary = { silent: false, asked: [] as string[], call };
  async function call(name: string, address: unknown): Promise<never> {
    primary.asked.push(name);
    if (primary.silent) throw new NoAnswer('the primary process did not answer within 1000 ms');
    return (await guard[name as 'fail' | 'look'](address as string)) as never;
  }
  return primary;
}

function workersOf(primary: ReturnType<typeof primaryProcess>, failures: number) {
  const events: Event[] = [];
  const options = {
    primary: primary as unknown as SharedGuardOptions['primary'],
    failures,
    window: SPAN,
    workers: 2,
  };
  const guards = [1, 2].map(() =>
    createSharedGuard({ ...options, observe: (event) => void events.push(event) }),
  );
  return { one: guards[0]!, other: guards[1]!, events };
}

describe('the guard of a worker', () => {
  test('counts in one window with the guards of all others', async () => {
    const { one, other } = workersOf(primaryProcess(3), 3);
    const results = [];
    for (const guard of [one, other, one, other])
      results.push((await guard.fail('198.51.100.1')).exhausted);
    expect(results).toEqual([false, false, false, true]);
    expect(remainingIn((await one.look('198.51.100.1')).readings[0]!)).toBe(0);
    expect(remainingIn((await one.look('198.51.100.2')).readings[0]!)).toBe(3);
  });

  test('sends no more queries about a client that is known to be exhausted, whichever address of its network it uses', async () => {
    const primary = primaryProcess(1);
    const { one } = workersOf(primary, 1);
    await one.fail('2001:db8::1');
    const first = await one.fail('2001:db8::1');
    const asked = primary.asked.length;
    for (const address of ['2001:db8::1', '2001:db8::2']) {
      const again = await one.fail(address);
      expect(again).toMatchObject({ exhausted: true, readings: first.readings });
      expect(await one.look(address)).toMatchObject({ readings: first.readings });
    }
    expect(primary.asked).toHaveLength(asked);
  });

  test('counts its share by itself while the primary process is silent, reports it once, and continues with it later', async () => {
    const primary = primaryProcess(6);
    const { one, other, events } = workersOf(primary, 6);
    primary.silent = true;
    let admitted = 0;
    for (let i = 0; i < 8; i++)
      for (const guard of [one, other])
        if (!(await guard.fail('198.51.100.3')).exhausted) admitted++;
    expect(admitted).toBe(6);
    expect(events.map(({ type }) => type)).toEqual([
      'primary.unresponsive',
      'primary.unresponsive',
    ]);
    primary.silent = false;
    await until(
      'it is heard again',
      () => events.filter(({ type }) => type === 'primary.responsive').length === 2,
    );
    expect(remainingIn((await one.fail('198.51.100.4')).readings[0]!)).toBe(5);
    expect(remainingIn((await other.fail('198.51.100.4')).readings[0]!)).toBe(4);
  });
});
