import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ROLES, type Role } from '@storegate/admin-api';
import { ADMIN_CONTRACT } from '@storegate/admin-api/files';
import { type Contract, loadContract, type Operation } from '@storegate/openapi';
import { adminContract, createAdminApi } from '../../src/admin/api.ts';
import type { AdminContext } from '../../src/admin/context.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'storegate-contract-'));
  const schema = 'webhooks.schema.json';
  copyFileSync(resolve(ADMIN_CONTRACT, '..', schema), join(folder, schema));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const shipped = readFileSync(ADMIN_CONTRACT, 'utf8');
const context = {} as AdminContext;

function changed(from: string, to: string): Contract {
  expect(shipped).toContain(from);
  const file = join(folder, 'admin.yaml');
  writeFileSync(file, shipped.replace(from, to));
  return loadContract(file);
}

const PLANTED = `paths:
  /planted:
    get:
      operationId: planted
      summary: Planted
      x-role: read
      responses: { '200': { description: Good. } }
`;

describe('the admin API does not start', () => {
  test.each([
    ['an operation has no code', 'paths:\n', PLANTED, 'operation planted has no code'],
    [
      'code belongs to no operation',
      'operationId: grantUsage',
      'operationId: another',
      'the code of grantUsage belongs',
    ],
    [
      'a role is unknown',
      'x-role: admin',
      'x-role: king',
      'operation setPlan needs an x-role of read, operate, admin',
    ],
    ['a role is missing', '      x-role: operate\n', '', 'operation createKey needs an x-role'],
    [
      'an operation has a name that every object has',
      'paths:\n',
      PLANTED.replace('operationId: planted', 'operationId: toString'),
      'operation toString has no code',
    ],
  ])('when %s', (_case, from, to, message) => {
    expect(() => createAdminApi(context, changed(from, to))).toThrow(message);
  });

  test('and reports all differences', () => {
    const contract = changed('operationId: grantUsage', 'operationId: another');
    expect(() => createAdminApi(context, contract)).toThrow(
      /^The contract of the admin API and its code differ: operation another has no code; the code of grantUsage/,
    );
  });
});

/**
 * Every operation under the lowest role that may call it. Deliberately a copy of the contract:
 * roles change on purpose only.
 */
const LOWEST: Readonly<Record<Role, readonly string[]>> = {
  read: [
    'listKeys',
    'getKey',
    'identifyKey',
    'listAccounts',
    'getAccount',
    'listKeysOfAccount',
    'listPlans',
    'getPlan',
    'simulatePlan',
    'listBans',
    'listBanHistory',
    'getUsage',
    'getUsageReport',
    'getStatus',
    'listBackends',
    'getTop',
    'getHistory',
    'listRequests',
    'explainRequest',
    'getConfig',
    'diffConfig',
    'listAudit',
    'listWebhooks',
    'getWebhookSchema',
  ],
  operate: [
    'createKey',
    'importKey',
    'importKeys',
    'updateKey',
    'disableKey',
    'enableKey',
    'rotateKey',
    'revokeKey',
    'addBan',
    'extendBan',
    'liftBan',
    'resetUsage',
    'grantUsage',
    'testWebhooks',
    'forgetGateway',
  ],
  admin: ['setPlan', 'reload', 'listTokens', 'createToken', 'revokeToken'],
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
