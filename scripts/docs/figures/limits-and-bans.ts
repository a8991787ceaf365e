import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parsePlans } from '../../../src/config/plans.ts';
import { deafClientTable } from '../deaf-clients.ts';
import type { Blocks } from './block.ts';

const PLANS = join(import.meta.dirname, '../../../plans.yaml');

export const limitsAndBans: Blocks = {
  deaf: () => deafClientTable(parsePlans(readFileSync(PLANS, 'utf8'))),
};
