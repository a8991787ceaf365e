import { mkdirSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { remainingIn } from '../../src/limits/admission.ts';
import type { Window } from '../../src/limits/limits.ts';
import { openRowFile, rowFileIn } from '../../src/state/rows/row-file.ts';
import { createRowWriter, type RowWriter } from '../../src/state/rows/row-writer.ts';
import { createCircuitBreakers } from '../../src/state/shared/circuit-breakers.ts';
import { createStateClock } from '../../src/state/shared/clock.ts';
import {
  type LastKnownCounters,
  type LastKnownEntry,
  lastKnownCountersIn,
  lastKnownIn,
  packLastKnown,
  withoutOutdated,
} from '../../src/state/shared/last-known-counters.ts';
import type { OutageSettings } from '../../src/state/shared/remote-state.ts';
import { createSharedState } from '../../src/state/shared/shared-state.ts';
import {
  calendar,
  DAY,
  ESCALATION,
  HOUR,
  limits,
  MINUTE,
  scoped,
  TestClock,
  window,
} from '../support/limits.ts';
import { MemoryState } from '../support/memory-state.ts';
import { temporaryFolders } from '../support/temporary.ts';
import { until } from '../support/until.ts';

const HOURLY = limits([window(6, HOUR)], null);
const SETTINGS: OutageSettings = {
  deadline: 1_000,
  failureThreshold: 1,
  onOutage: 'local',
  shareRemaining: false,
  refusalCacheTtl: 5_000,
};

const WINDOWS = [
  window(3, MINUTE),
  window(9, HOUR, 'sliding'),
  scoped('login', 2, MINUTE),
  window(20, DAY),
];
const anyWindow = fc.constantFrom(...WINDOWS);
const anyKept: fc.Arbitrary<LastKnownEntry> = fc.record({
  known: fc.option(
    fc.record({
      admission: fc.record({
        now: fc.nat(),
        verdict: fc.constantFrom('admitted' as const, 'limited' as const, 'banned' as const),
        readings: fc.array(fc.record({ window: anyWindow, used: fc.nat(), resetAt: fc.nat() })),
        retryAt: fc.nat(),
        bannedUntil: fc.nat(),
      }),
      divided: fc.boolean(),
    }),
  ),
  dues: fc.array(
    fc.record({
      limits: fc.record({
        windows: fc.array(anyWindow),
        escalation: fc.constantFrom(null, ESCALATION),
      }),
      reconciliation: fc.record({
        gateway: fc.uuid(),
        number: fc.nat(),
        ban: fc.option(
          fc.record({ until: fc.nat(), since: fc.nat(), limit: fc.option(anyWindow) }),
        ),
        windows: fc.array(fc.record({ units: fc.nat(), openedAt: fc.nat() })),
      }),
    }),
    { maxLength: 2 },
  ),
});

test('what was packed is the same once it is unpacked', () => {
  fc.assert(
    fc.property(anyKept, (kept) => {
      expect(lastKnownIn(packLastKnown(kept))).toEqual(kept);
    }),
  );
  expect(lastKnownIn('[')).toBeNull();
});

test('of a refusal the limit is kept if it has a scope', () => {
  const kept = (violated: Window) => {
    const admission = {
      now: 1,
      verdict: 'limited' as const,
      readings: [],
      retryAt: 2,
      bannedUntil: 0,
      violated,
    };
    const text = packLastKnown({ known: { admission, divided: false }, dues: [] });
    return lastKnownIn(text)?.known?.admission.violated;
  };
  expect(kept(WINDOWS[2]!)).toEqual(WINDOWS[2]);
  expect(kept(WINDOWS[0]!)).toBeUndefined();
});

test('what has passed is left out', () => {
  const [minute, hour] = [window(3, MINUTE), window(9, HOUR)];
  const reading = (resetAt: number) => ({ window: minute, used: 1, resetAt });
  const existing = (resetAt: number, retryAt: number, bannedUntil: number) => ({
    admission: {
      now: 0,
      verdict: 'limited' as const,
      readings: [reading(resetAt)],
      retryAt,
      bannedUntil,
    },
    divided: true,
  });
  expect(withoutOutdated({ known: existing(10, 10, 10), dues: [] }, 10)).toBeNull();
  for (const open of [existing(11, 0, 0), existing(0, 11, 0), existing(0, 0, 11)])
    expect(withoutOutdated({ known: open, dues: [] }, 10)).toEqual({ known: open, dues: [] });
  const due = {
    limits: limits([minute, hour], null),
    reconciliation: {
      gateway: 'g',
      number: 1,
      ban: { until: 2 * MINUTE, since: 1, limit: null },
      windows: [
        { units: 1, openedAt: 5 },
        { units: 2, openedAt: 5 },
      ],
    },
  };
  const later = withoutOutdated({ known: null, dues: [due] }, 2 * MINUTE)!.dues[0]!.reconciliation;
  expect(later.windows.map(({ units }) => units)).toEqual([0, 2]);
  expect(later.ban).toBeNull();
  expect(withoutOutdated({ known: null, dues: [due] }, 2 * HOUR)).toBeNull();
});

test('units of a calendar window are left out when its period has ended', () => {
  const midnight = Date.parse('2026-11-26T23:00Z');
  const due = {
    limits: limits([calendar(9, DAY, 'Europe/Berlin')], null),
    reconciliation: {
      gateway: 'g',
      number: 1,
      ban: null,
      windows: [{ units: 2, openedAt: midnight - 60 * MINUTE }],
    },
  };
  const kept = { known: null, dues: [due] };
  expect(withoutOutdated(kept, midnight - 1)).toEqual(kept);
  expect(withoutOutdated(kept, midnight)).toBeNull();
});

/** Last-known counters that a crash leaves as they were at the last `write`. */
class MemoryCounters {
  readonly kept = new Map<string, LastKnownEntry>();
  #marked = new Set<string>();
  #read: (subject: string) => LastKnownEntry | undefined = () => undefined;

  open(): LastKnownCounters {
    return {
      load: () => [...this.kept],
      begin: (read) => {
        this.#read = read;
        this.#marked = new Set();
      },
      mark: (subject) => void this.#marked.add(subject),
      close: async () => this.write(),
    };
  }

  write(): void {
    for (const subject of this.#marked) {
      const entry = this.#read(subject);
      if (entry) this.kept.set(subject, entry);
      else this.kept.delete(subject);
    }
    this.#marked = new Set();
  }
}

function openState(
  remote: MemoryState,
  clock: TestClock,
  lastKnown: LastKnownCounters,
  gateway: string,
) {
  const breakers = createCircuitBreakers(remote, SETTINGS, () => {});
  const state = createSharedState({
    remote,
    breakers,
    bus: remote,
    settings: SETTINGS,
    gateway,
    gateways: () => 1,
    observe: () => {},
    lastKnown,
    clock: createStateClock(clock.read),
  });
  return { state, breakers };
}

test('whenever a gateway is killed, what it had written is neither given out again nor charged twice', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom('request', 'write', 'kill', 'down', 'back', 'loses answers'), {
        maxLength: 30,
      }),
      async (history) => {
        const clock = new TestClock();
        const remote = new MemoryState(clock);
        const lastKnown = new MemoryCounters();
        let gateways = 0;
        let running = openState(remote, clock, lastKnown.open(), `${++gateways}`);
        let admitted = 0;
        for (const step of history) {
          if (step === 'request') {
            const { verdict } = await running.state.admit('a:1', HOURLY, 1);
            if (verdict === 'admitted') admitted += 1;
            lastKnown.write();
          } else if (step === 'write') lastKnown.write();
          else if (step === 'back') remote.troubles.delete('a');
          else if (step === 'kill') {
            running.breakers.close();
            running = openState(remote, clock, lastKnown.open(), `${++gateways}`);
          } else remote.troubles.set('a', step === 'down' ? 'down' : 'loses answers');
        }
        remote.troubles.delete('a');
        const last = openState(remote, clock, lastKnown.open(), 'last');
        running.breakers.close();
        await until('all is charged', () => last.state.unreconciled === 0);
        const { readings } = await last.state.look('a:1', HOURLY);
        const lost = history.includes('loses answers');
        const used = 6 - remainingIn(readings[0]!);
        // A charge whose answer was lost counts at least once.
        if (lost) expect(used).toBeGreaterThanOrEqual(Math.min(6, admitted));
        else expect(used).toBe(Math.min(6, admitted));
        expect(admitted).toBeLessThanOrEqual(6);
        last.breakers.close();
      },
    ),
    { numRuns: 60 },
  );
});

test('what an operator has undone does not come back', async () => {
  const clock = new TestClock();
  const remote = new MemoryState(clock);
  const lastKnown = new MemoryCounters();
  const { state } = openState(remote, clock, lastKnown.open(), 'g');
  for (let i = 0; i < 6; i++) await state.admit('a:1', HOURLY, 1);
  lastKnown.write();
  expect(remainingIn(lastKnown.kept.get('a:1')!.known!.admission.readings[0]!)).toBe(0);
  await state.reset('a:1');
  lastKnown.write();
  expect(lastKnown.kept.has('a:1')).toBe(false);
});

const KNOWN: LastKnownEntry = {
  known: {
    admission: {
      now: 1,
      verdict: 'admitted',
      readings: [{ window: window(3, HOUR), used: 1, resetAt: 1_000 }],
      retryAt: 0,
      bannedUntil: 0,
    },
    divided: false,
  },
  dues: [],
};

describe('in rows of a folder', () => {
  const folderOf = temporaryFolders();
  let folder: string;
  let failures: unknown[];
  let writer: RowWriter;
  beforeEach(() => {
    folder = folderOf();
    failures = [];
    writer = createRowWriter(folder);
  });
  afterEach(() => writer.close());

  const open = (now?: number) =>
    lastKnownCountersIn(
      { folder, writer, worker: 1, workers: 1, failed: (error) => void failures.push(error) },
      now,
    );

  test('each process has what it marked; a damaged row is reported and left out', async () => {
    const [one, other] = [open(500)!, open(500)!];
    for (const [lastKnown, names] of [
      [one, ['a', 'damaged']],
      [other, ['b']],
    ] as const) {
      expect([...lastKnown.load()]).toEqual([]);
      lastKnown.begin(() => KNOWN);
      for (const name of names) lastKnown.mark(name);
      await lastKnown.close();
    }
    const rows = openRowFile(folder);
    rows.exec("UPDATE rows SET value = '[' WHERE name = 'damaged'");
    rows.close();
    const again = open(500)!;
    expect([...again.load()]).toEqual([['a', KNOWN]]);
    expect(failures.map(String)).toEqual([expect.stringContaining('damaged')]);
    again.begin(() => undefined);
    await again.close();
    const last = open(500)!;
    expect([...last.load()]).toEqual([]);
    await last.close();
  });

  test('a folder that cannot be used is reported, and does no harm', () => {
    mkdirSync(rowFileIn(folder));
    expect(open()).toBeNull();
    expect(failures).toHaveLength(1);
  });

  test('at most four processes keep counters; the next one runs without, and reports it', async () => {
    const opened = [open(), open(), open(), open()];
    expect(opened).not.toContain(null);
    expect(open()).toBeNull();
    expect(failures).toHaveLength(1);
    for (const lastKnown of opened) await lastKnown!.close();
  });
});
