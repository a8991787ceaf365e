import type { RequestGauges } from '../../src/observe/metric-rows.ts';

/** Each gauge has another number. */
export const CARRYING: RequestGauges = {
  inFlight: () => 3,
  subjects: () => 4,
  bodies: () => 5,
  bodyBudget: () => 50,
  storeOpen: () => 7,
  storeIdle: () => 2,
  storeMost: () => 8,
  storeWaiting: () => 1,
  unsaved: () => 6,
};
