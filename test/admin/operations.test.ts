import { describe, expect, test } from '@jest/globals';
import { ROLES, type Role } from '@storegate/admin-api';
import type { Operation } from '@storegate/openapi';
import { adminContract, createAdminApi } from '../../src/admin/api.ts';
import type { AdminContext } from '../../src/admin/context.ts';

const namesIn = (text: string): string[] => text.trim().split(/\s+/);

/**
 * Every operation under the lowest role that may call it. Deliberately a copy of the contract:
 * roles change on purpose only.
 */
const LOWEST: Readonly<Record<Role, readonly string[]>> = {
  read: namesIn(`
    listKeys getKey identifyKey listAccounts getAccount listKeysOfAccount listPlans getPlan
    simulatePlan listBans listBanHistory getUsage getUsageReport getStatus listBackends getTop
    getHistory listRequests explainRequest getConfig diffConfig listAudit listWebhooks
    getWebhookSchema`),
  operate: namesIn(`
    createKey importKey importKeys updateKey disableKey enableKey rotateKey revokeKey addBan
    extendBan liftBan resetUsage grantUsage testWebhooks forgetGateway`),
  admin: namesIn('setPlan reload listTokens createToken revokeToken'),
};

describe('the role of a token', () => {
  const letIn = new Error('asked after the role');
  const asking: Pick<AdminContext, 'clock'> = {
    clock: () => {
      throw letIn;
    },
  };
  const lenient = (operation: Operation): Operation =>
    Object.create(operation, { checkParameters: { value: () => [] }, body: { value: null } });
  const contract = adminContract();
  const api = createAdminApi(asking as AdminContext, {
    ...contract,
    match(method, path) {
      const match = contract.match(method, path);
      return match.operation ? { ...match, operation: lenient(match.operation) } : match;
    },
  });

  async function isLetIn({ method, path }: Operation, role: Role): Promise<boolean> {
    const call = {
      id: '',
      operator: { name: 'anna', role },
      method,
      path: path.replaceAll(/[{}]/g, ''),
    };
    const refusal: unknown = await api
      .call({ ...call, query: '', headers: [], body: null })
      .catch((error) => error);
    if (refusal !== letIn) expect(refusal).toMatchObject({ code: 'role_too_low' });
    return refusal === letIn;
  }

  test.each(ROLES)(
    '%s permits exactly its own operations and those of the lower roles',
    async (role) => {
      const enough: string[] = [];
      for (const operation of contract.operations)
        if (await isLetIn(operation, role)) enough.push(operation.id);
      const before = ROLES.slice(0, ROLES.indexOf(role) + 1);
      expect(enough.sort()).toEqual(before.flatMap((one) => LOWEST[one]).sort());
    },
  );
});
