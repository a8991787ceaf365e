import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { createSessions } from '../src/admin/sessions.ts';
import { AddressSubjects, SHARED_COUNTERS, spread } from '../src/callers/address-subjects.ts';
import { createCallerWindow } from '../src/callers/caller-window.ts';
import { createGuard } from '../src/callers/guard.ts';
import { createSharedGuard } from '../src/run/workers/guard.ts';
import { DAY, HOUR, MINUTE, window } from './support/limits.ts';

const NOON = Date.UTC(2026, 0, 1, 12);

/** The clock of the machine, an hour fast until `setBack`; timers and the monotonic clock continue. */
const clock = () => Date.now();
const setBack = () => jest.setSystemTime(Date.now() - HOUR);
const pass = (milliseconds: number) => jest.advanceTimersByTimeAsync(milliseconds);

beforeEach(() => void jest.useFakeTimers({ now: NOON + HOUR }));
afterEach(() => void jest.useRealTimers());

const ADDRESS = '198.51.100.1';

/** What was stored before the clock was set back by an hour, and what holds after it. docs/decisions/time.md lists it. */
const ROWS: Readonly<Record<string, () => unknown>> = {
  async 'window of failed attempts, page visits and /usage calls'() {
    const { take, look } = createCallerWindow(window(1, MINUTE));
    for (let i = 0; i < 2; i++) await take(ADDRESS);
    setBack();
    for (const { readings, now } of [await take(ADDRESS), await look(ADDRESS)])
      expect(readings[0]).toMatchObject({ remaining: 0, resetAt: now + MINUTE });
  },
  async 'number of addresses with a window of their own'() {
    const { take } = createCallerWindow(window(1, MINUTE), 1);
    await take(ADDRESS);
    setBack();
    await pass(MINUTE);
    // They would share a counter.
    const shared = (address: string) => spread(address) % SHARED_COUNTERS;
    const one = Array.from({ length: 256 }, (_, i) => `192.0.2.${i}`);
    const other = Array.from({ length: 256 }, (_, i) => `203.0.113.${i}`);
    const pair = one.flatMap((a) => other.filter((b) => shared(a) === shared(b)).map((b) => [a, b]))[0]!;
    for (const address of pair) expect((await take(address)).exhausted).toBe(false);
  },
  async 'exhausted address at a worker'() {
    const guard = createGuard({ failures: 1, window: MINUTE });
    const primary = { call: (name: 'fail' | 'look', address: string) => guard[name](address) };
    const shared = createSharedGuard({
      ...{ primary: primary as never, failures: 1, window: MINUTE, workers: 2 },
      observe: () => {},
    });
    for (let i = 0; i < 2; i++) await shared.fail(ADDRESS);
    setBack();
    const { readings, now } = await shared.look(ADDRESS);
    expect(readings[0]!.resetAt).toBe(now + MINUTE);
    shared.close();
  },
  async 'subject of an address'() {
    const subjects = new AddressSubjects(clock, 1);
    expect(subjects.of(ADDRESS)).toBe(`address:${ADDRESS}`);
    setBack();
    expect(subjects.of('192.0.2.1')).toMatch(/shared/);
    await pass(DAY);
    expect(subjects.of('192.0.2.1')).toBe('address:192.0.2.1');
  },
  async 'console session'() {
    const sessions = createSessions(() => ({ idle: 10 * MINUTE, longest: 30 * MINUTE }), clock);
    const [idle, used] = [sessions.begin('a'), sessions.begin('b')];
    setBack();
    expect([sessions.find(idle), sessions.find(used)]).toEqual(['a', 'b']);
    await pass(8 * MINUTE);
    sessions.use(used);
    await pass(8 * MINUTE);
    expect([sessions.find(idle), sessions.find(used)]).toEqual([null, 'b']);
    sessions.use(used);
    await pass(8 * MINUTE);
    sessions.use(used);
    await pass(7 * MINUTE);
    expect(sessions.find(used)).toBeNull();
  },
};

test.each(Object.entries(ROWS))('a clock that is set back by an hour holds nothing: %s', async (_, holds) => {
  await holds();
});

test('every stored time is documented', () => {
  const text = readFileSync(join(import.meta.dirname, '../docs/decisions/time.md'), 'utf8');
  const documented = [...text.matchAll(/^\| ([^|]+) \| [^|]+ \|$/gm)].map(([, name]) => name);
  expect(documented.slice(1)).toEqual(Object.keys(ROWS));
});
