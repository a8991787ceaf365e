import { SHARED } from './attacks.ts';
import { FLOODS } from './floods.ts';
import type { Attack } from './table.ts';

export const ATTACKS: readonly Attack[] = [...SHARED, ...FLOODS];
