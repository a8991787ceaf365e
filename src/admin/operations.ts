import type { AdminOperations } from './call.ts';
import type { AdminContext } from './context.ts';
import { accountOperations } from './operations/accounts.ts';
import { auditOperations } from './operations/audit.ts';
import { banOperations } from './operations/bans.ts';
import { configOperations } from './operations/config.ts';
import { keyOperations } from './operations/keys.ts';
import { planOperations } from './operations/plans.ts';
import { tokenOperations } from './operations/tokens.ts';
import { usageOperations } from './operations/usage.ts';

/** Every operation of the admin API, by its operationId. */
export function createOperations(context: AdminContext): AdminOperations {
  return {
    ...keyOperations(context),
    ...accountOperations(context),
    ...planOperations(context),
    ...banOperations(context),
    ...usageOperations(context),
    ...configOperations(context),
    ...auditOperations(context),
    ...tokenOperations(context),
  };
}
