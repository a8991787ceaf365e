import { Readable } from 'node:stream';
import { expect, test } from '@jest/globals';
import type { Task } from '../../src/admin/call.ts';
import type { Change } from '../../src/admin/change.ts';
import type { AdminContext } from '../../src/admin/context.ts';
import { planOperations } from '../../src/admin/operations/plans.ts';
import { Outage } from '../../src/common/errors/outage.ts';
import { loadConfig } from '../../src/config/load.ts';

const { plans } = loadConfig({ env: {}, cwd: process.cwd() });

function operations(error: Error) {
  const countKeys = () => {
    throw error;
  };
  const context = { plans: () => plans, keys: { countKeys } } as unknown as AdminContext;
  return planOperations(context, null as unknown as Change);
}

test('plans are shown while the state is down, without the number of their keys', async () => {
  const { listPlans, getPlan } = operations(new Outage('state_unavailable'));
  const body = await listPlans();
  const free = expect.objectContaining({ name: 'free', limits: '60/minute,1000/day', keys: null });
  expect(body.plans).toContainEqual(free);
  expect(await getPlan({ path: { plan: 'free' } } as unknown as Task<'getPlan'>)).toEqual(free);
});

test('a bug is not an outage', async () => {
  const { listPlans } = operations(new TypeError('broken'));
  await expect(listPlans()).rejects.toThrow('broken');
});

test('other work runs while the usage of all keys of a plan is read', async () => {
  const config = loadConfig({ env: {}, cwd: process.cwd() });
  const key = { plan: 'free', account: 'acme', revokedAt: null, windows: null };
  const keys = Array.from({ length: 1_001 }, (_, i) => ({ ...key, id: `key_${i}` }));
  let turn = 0;
  const next = () => {
    turn++;
    timer = setImmediate(next);
  };
  let timer = setImmediate(next);
  const turns = new Set<number>();
  const look = () => {
    turns.add(turn);
    return { readings: [] };
  };
  const context = {
    plans: () => plans,
    config: () => config,
    contract: () => ({ windows: [] }),
    state: () => ({ look }),
    keys: { read: () => Readable.from([keys]) },
  };
  const make = async (_: unknown, simulation: unknown) => simulation;
  const change = async (_: Task, __: string, work: (audit: object) => unknown) => work({ make });
  const { setPlan } = planOperations(context as never, change as never);
  const body = { limits: '30/minute' };
  const { keys: affected } = await setPlan({ path: { plan: 'free' }, body } as never);
  clearImmediate(timer);
  expect([affected, turns.size]).toEqual([1_001, 3]);
});
