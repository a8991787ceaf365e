import type { RequestGauges } from '../../src/observe/metric-rows.ts';

/** Each gauge has another number. */
export const CARRYING: RequestGauges = {
  inFlight: () => 3,
  subjects: () => 4,
  bodies: () => 5,
  bodyBudget: () => 50,
  backendOpen: () => 7,
  backendIdle: () => 2,
  backendMost: () => 8,
  backendWaiting: () => 1,
  unsaved: () => 6,
  usageBytes: () => 9,
  usageWaiting: () => 10,
  exportDelay: () => 0,
};
