import { MINUTE } from '../../../src/common/time.ts';
import type { Window } from '../../../src/limits/limits.ts';
import type { Plan, Plans } from '../../../src/limits/plans.ts';
import { createKey, type Key } from '../clients.ts';
import type { Answered, Gateway } from '../gateway/gateway.ts';
import type { OperationName } from '../gateway/operations.ts';
import { SHIPPED_PLANS, type Simulation } from '../simulation.ts';

export const SEED = Number(process.env.STOREGATE_TEST_SEED ?? 1);

export function windowOf(limit: number, span = MINUTE, kind: Window['kind'] = 'fixed'): Window {
  return { name: `${span}ms`, kind, limit, span };
}

/** The shipped plans, and one named `test` with these windows. */
export function plansWith(windows: readonly Window[], more: Partial<Plan> = {}): Plans {
  const plan: Plan = { name: 'test', count: 'key', windows, ...more };
  return { ...SHIPPED_PLANS, plans: new Map([...SHIPPED_PLANS.plans, [plan.name, plan]]) };
}

export const testKey = (simulation: Simulation): Promise<Key> => createKey(simulation, 'test');

/** Sends `count` requests, one after the other. */
export async function burst(
  { world }: Simulation,
  gateway: Gateway,
  key: Key | null,
  count: number,
  operation: OperationName = 'read',
): Promise<Answered[]> {
  const responses: Answered[] = [];
  for (let i = 0; i < count; i++) {
    const request = { operation, secret: key?.secret ?? null, address: '192.0.2.1', backend: 1 };
    responses.push(await world.settle(gateway.send(request)));
  }
  return responses;
}

export async function one(
  simulation: Simulation,
  gateway: Gateway,
  key: Key | null,
): Promise<Answered> {
  const [response] = await burst(simulation, gateway, key, 1);
  return response!;
}
