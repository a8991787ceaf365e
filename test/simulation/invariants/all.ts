import { borders } from './borders.ts';
import { charges } from './charges.ts';
import { copies } from './copies.ts';
import { entries } from './entries.ts';
import { flights } from './flights.ts';
import { incidents } from './incidents.ts';
import type { MakeInvariant } from './invariant.ts';
import { existing } from './known.ts';
import { ledger } from './ledger.ts';
import { levels } from './levels.ts';
import { limits } from './limits.ts';
import { manners } from './manners.ts';
import { propagation } from './propagation.ts';
import { reports } from './reports.ts';
import { simulations } from './simulations.ts';
import { waits } from './waits.ts';

export const INVARIANTS: readonly MakeInvariant[] = [
  limits,
  waits,
  charges,
  borders,
  ledger,
  propagation,
  existing,
  entries,
  copies,
  levels,
  manners,
  incidents,
  flights,
  reports,
  simulations,
];
