import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ADMIN_CONTRACT, createAdminApi } from '../../src/admin/api.ts';
import type { AdminContext } from '../../src/admin/context.ts';
import { type Contract, loadContract } from '../../src/contract/contract.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'storegate-contract-'));
  // The contract refers to it.
  const schema = 'webhooks.schema.json';
  copyFileSync(resolve(ADMIN_CONTRACT, '..', schema), join(folder, schema));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const shipped = readFileSync(ADMIN_CONTRACT, 'utf8');
/** Nothing is called before the contract is looked at. */
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
    ['a role is unknown', 'x-role: admin', 'x-role: king', 'operation putPlan needs an x-role of read, operate, admin'],
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

  test('and says all that differs', () => {
    const contract = changed('operationId: grantUsage', 'operationId: another');
    expect(() => createAdminApi(context, contract)).toThrow(
      /^The contract of the admin API and its code differ: operation another has no code; the code of grantUsage/,
    );
  });
});
