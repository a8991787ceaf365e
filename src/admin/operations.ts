import type { AdminOperations } from './call.ts';
import type { Change } from './change.ts';
import type { AdminContext } from './context.ts';
import { accountOperations } from './operations/accounts.ts';
import { auditOperations } from './operations/audit.ts';
import { banOperations } from './operations/bans.ts';
import { configOperations } from './operations/config.ts';
import { keyOperations } from './operations/keys.ts';
import { planOperations } from './operations/plans.ts';
import { reportOperations } from './operations/report.ts';
import { requestOperations } from './operations/requests.ts';
import { statusOperations } from './operations/status.ts';
import { tokenOperations } from './operations/tokens.ts';
import { trafficOperations } from './operations/traffic.ts';
import { usageOperations } from './operations/usage.ts';
import { webhookOperations } from './operations/webhooks.ts';

export function createOperations(
  context: AdminContext,
  change: Change,
): AdminOperations {
  return {
    ...keyOperations(context, change),
    ...accountOperations(context),
    ...planOperations(context, change),
    ...banOperations(context, change),
    ...usageOperations(context, change),
    ...reportOperations(context),
    ...configOperations(context, change),
    ...auditOperations(context),
    ...tokenOperations(context, change),
    ...statusOperations(context, change),
    ...trafficOperations(context),
    ...requestOperations(context),
    ...webhookOperations(context, change),
  };
}
