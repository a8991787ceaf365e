import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import { peekPlans } from '../records/embedded/peek.ts';

/** Sentences about plans that keys have and the plans file lacks. With Redis by the key cache. */
export function missingPlans({
  redis,
  data,
  plans: { plans },
}: Pick<Config, 'redis' | 'data' | 'plans'>): string[] {
  const file = join(data, redis === null ? 'state.db' : 'records.db');
  return [...peekPlans(file)]
    .filter(([plan]) => !plans.has(plan))
    .map((one) => `${missingPlanText(...one)}: requests with it get 403`);
}

export const missingPlanText = (plan: string, keys: number): string =>
  `plan ${plan} is missing, and ${keys} ${keys === 1 ? 'key has' : 'keys have'} it`;
