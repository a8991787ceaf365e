import type { Results } from '../results.ts';
import type { Blocks } from './block.ts';

export const limitsAndBans: Blocks = { shares };

const SATURATED = 'Plans sharing a saturated backend';

function shares(results: Results): string {
  const served = ['free, 1', 'pro, 4', 'business, 8', 'enterprise, 16'].map((plan) => {
    return `${plan.split(',')[0]} ${results.cell(SATURATED, plan, 'served by weight')}`;
  });
  const [load] = results.match(SATURATED, /gets (\w+) times as many/);
  return `Requests served at ${load} times the capacity: ${served.join(', ')}
([measurement](../bench/RESULTS.md#plans-sharing-a-saturated-backend)).`;
}
