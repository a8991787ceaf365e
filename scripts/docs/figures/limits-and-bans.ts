import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parsePlans } from '../../../src/config/plans.ts';
import { deafClientTable } from '../deaf-clients.ts';
import type { Results } from '../results.ts';
import type { Blocks } from './block.ts';

const PLANS = join(import.meta.dirname, '../../../plans.yaml');

export const limitsAndBans: Blocks = {
  shares,
  deaf: () => deafClientTable(parsePlans(readFileSync(PLANS, 'utf8'))),
};

const SATURATED = 'Plans sharing a saturated backend';

function shares(results: Results): string {
  const served = ['free, 1', 'pro, 4', 'business, 8', 'enterprise, 16'].map((plan) => {
    return `${plan.split(',')[0]} ${results.cell(SATURATED, plan, 'served by weight')}`;
  });
  const [load] = results.match(SATURATED, /gets (\w+) times as many/);
  return `Requests served at ${load} times the capacity: ${served.join(', ')}
([measurement](../bench/RESULTS.md#plans-sharing-a-saturated-backend)).`;
}
