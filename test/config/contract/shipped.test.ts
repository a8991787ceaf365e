import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { ADMIN_CONTRACT } from '@storegate/admin-api/files';
import { atOnce, serialize } from '@storegate/openapi';
import {
  type Contract,
  checkContract,
  deserialize,
  loadContract,
} from '../../../src/config/contract/contract.ts';

const SHIPPED = fileURLToPath(new URL('../../../config/openapi.yaml', import.meta.url));
const contract = loadContract(SHIPPED);

test('everything in the shipped contract is enforced', () => {
  expect(contract.notes).toEqual([]);
  expect(contract.operations.length).toBeGreaterThan(0);
});

test.each([SHIPPED, ADMIN_CONTRACT])('%s has only what can be compiled', async (file) => {
  const { operations, prepare } = loadContract(file);
  await prepare(new AbortController().signal);
  for (const operation of operations) await operation.ready('response');
});

test('the shipped contract is the same for another process', () => {
  const there = atOnce(deserialize(structuredClone(serialize(checkContract(SHIPPED).compiled))));
  expect(there.json).toBe(contract.json);
  expect(there.names).toEqual(contract.names);
  const described = ({ operations }: Contract) =>
    operations.map(({ id, method, path, tags, cost, requiredScopes, sunset, replyHeaders }) => ({
      id,
      method,
      path,
      tags,
      cost,
      requiredScopes,
      sunset,
      replyHeaders,
    }));
  expect(described(there)).toEqual(described(contract));
});

describe.each(contract.operations.map((operation) => [operation.id, operation] as const))(
  '%s',
  (_, operation) => {
    test('is found under its path', () => {
      const path = operation.path.replace(/\{[^}]*\}/g, '7');
      expect(contract.match(operation.method, path).operation).toBe(operation);
    });
  },
);
