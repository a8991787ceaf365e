import type { Store } from '../../stores.ts';
import type { OfFleet } from './of-fleet.ts';

/** `GET /stores`. */
export interface Stores extends OfFleet {
  readonly stores: readonly StoreWithProcesses[];
}

export interface StoreWithProcesses extends Store {
  readonly processes: readonly StoreOfProcess[];
}

/** How one process sees it. */
export interface StoreOfProcess {
  readonly gateway: string;
  readonly worker: number | null;
  readonly state: 'up' | 'returning' | 'away';
}
