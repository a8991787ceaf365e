import { ROLES, type Role } from '@storegate/admin-api';
import type { Contract, Operation } from '@storegate/openapi';
import type { AdminAnswer, AdminOperations } from './call.ts';
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

/** For a task of its operation, which the contract has found. */
type Run = (task: never) => Promise<AdminAnswer>;

/**
 * By id, with the lowest role: `x-role` in the contract. Throws, and lists all differences, if
 * contract and code differ or an operation has no known role.
 */
export function bindOperations(
  contract: Contract,
  operations: AdminOperations,
) {
  const code = new Map<string, Run>(Object.entries(operations));
  const described = new Set(contract.operations.map(({ id }) => id));
  const faults: string[] = [];
  const bound = new Map<string, { readonly run: Run; readonly role: Role }>();
  for (const operation of contract.operations) {
    const run = code.get(operation.id);
    const named = roleIn(contract, operation);
    const role = ROLES.find((one) => one === named);
    if (run && role) bound.set(operation.id, { run, role });
    if (!run) faults.push(`operation ${operation.id} has no code`);
    if (!role)
      faults.push(
        `operation ${operation.id} needs an x-role of ${ROLES.join(', ')}, and has ${named ?? 'none'}`,
      );
  }
  for (const id of code.keys())
    if (!described.has(id))
      faults.push(`the code of ${id} belongs to no operation`);
  if (faults.length === 0) return bound;
  throw new Error(
    `The contract of the admin API and its code differ: ${faults.join('; ')}.`,
  );
}

function roleIn(
  { document }: Contract,
  { path, method }: Operation,
): string | undefined {
  const { paths } = document as {
    paths: Record<string, Record<string, { 'x-role'?: string }>>;
  };
  return paths[path]?.[method.toLowerCase()]?.['x-role'];
}
