import { banEscalation } from './pictures/ban-escalation.ts';
import { outagePolicies } from './pictures/outage-policies.ts';
import { twoGateways } from './pictures/two-gateways.ts';

/** The drawn pictures of docs/images, by file name. */
export const PICTURES: Readonly<Record<string, () => string>> = {
  'ban-escalation.svg': banEscalation,
  'outage-policies.svg': outagePolicies,
  'two-gateways.svg': twoGateways,
};
