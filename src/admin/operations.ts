import type { AdminOperations } from './call.ts';
import type { Desk } from './desk.ts';
import { accountOperations } from './operations/accounts.ts';
import { auditOperations } from './operations/audit.ts';
import { banOperations } from './operations/bans.ts';
import { configOperations } from './operations/config.ts';
import { keyOperations } from './operations/keys.ts';
import { planOperations } from './operations/plans.ts';
import { tokenOperations } from './operations/tokens.ts';
import { usageOperations } from './operations/usage.ts';

/** Every operation of the admin API, by its operationId. */
export function createOperations(desk: Desk): AdminOperations {
  return {
    ...keyOperations(desk),
    ...accountOperations(desk),
    ...planOperations(desk),
    ...banOperations(desk),
    ...usageOperations(desk),
    ...configOperations(desk),
    ...auditOperations(desk),
    ...tokenOperations(desk),
  };
}
