import { expect, test } from '@jest/globals';
import { judgeHealth } from '@storegate/admin-api/text';
import { healthFacts } from '../../src/admin/health.ts';
import type { GatewayStatus } from '../../src/observe/peers/status.ts';
import { STATUS } from '../support/status.ts';

const MINUTE = 60_000;
const NOW = 100 * MINUTE;

const started = (gateway: string, minute: number) => ({
  gateway,
  response: { ...STATUS, startedAt: minute * MINUTE },
});
const lostAt = (gateway: string, minute: number) => ({ gateway, at: minute * MINUTE });

type Case = readonly [
  what: string,
  lost: readonly ReturnType<typeof lostAt>[],
  running: readonly ReturnType<typeof started>[],
  unreplaced: readonly string[],
  replaced: readonly string[],
];

const CASES: readonly Case[] = [
  ['remains lost without another', [lostAt('a:1', 98)], [started('b:1', 1)], ['a:1'], []],
  [
    'is replaced by a new process of its machine',
    [lostAt('a:1', 98)],
    [started('a:2', 99), started('b:1', 1)],
    [],
    ['a:1'],
  ],
  [
    'is replaced by a later gateway of another machine',
    [lostAt('a:1', 98)],
    [started('c:1', 99), started('b:1', 1)],
    [],
    ['a:1'],
  ],
  [
    'is not listed 5 minutes after its replacement',
    [lostAt('a:1', 90)],
    [started('a:2', 94), started('b:1', 1)],
    [],
    [],
  ],
  [
    'needs a replacement of its own',
    [lostAt('a:1', 97), lostAt('b:1', 98)],
    [started('c:1', 99)],
    ['b:1'],
    ['a:1'],
  ],
  [
    'is replaced with all earlier processes of its machine',
    [lostAt('a:1', 97), lostAt('a:2', 98)],
    [started('a:3', 99)],
    [],
    ['a:1', 'a:2'],
  ],
];

test.each(CASES)('a gateway that did not shut down %s', (_what, lost, running, open, replaced) => {
  const responses = { responses: running, unresponsive: [], lost, isolated: null };
  const facts = healthFacts(responses, NOW);
  const names = (isReplaced: boolean) =>
    facts.lost.filter((one) => (one.replaced !== null) === isReplaced).map((one) => one.gateway);
  expect([names(false), names(true)]).toEqual([open, replaced]);
  const { status } = judgeHealth({ ...facts, mostRefused: null });
  expect(status).toBe(open.length > 0 ? 'degraded' : 'ok');
});

test('facts are summed over processes', () => {
  const [process] = STATUS.processes;
  const traffic = { requests: 10, failed: 2, refused: 1 };
  const condition = { type: 'unsaved', since: 0, detail: 'full' } as const;
  const reload = { type: 'reload_refused', since: null, detail: 'x' } as const;
  const one: GatewayStatus = {
    ...STATUS,
    processes: [
      { ...process!, traffic },
      { ...process!, traffic, conditions: [condition] },
    ],
    conditions: [reload],
  };
  const responses = [{ gateway: 'one', response: one }];
  const { gateways, ...facts } = healthFacts(
    { responses, unresponsive: [], lost: [], isolated: null },
    NOW,
  );
  expect(facts.traffic).toEqual({ requests: 20, failed: 4, refused: 2 });
  expect(gateways.map(({ conditions }) => conditions)).toEqual([
    [reload, { ...condition, since: '1970-01-01T00:00:00.000Z' }],
  ]);
});
