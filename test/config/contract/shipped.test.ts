import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { ADMIN_CONTRACT } from '@storegate/admin-api/files';
import { atOnce, serialize } from '@storegate/openapi';
import {
  type Contract,
  checkContract,
  deserialize,
  loadContract,
  type Operation,
} from '../../../src/config/contract/contract.ts';

type Node = Record<string, unknown>;

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

test.each([SHIPPED, ADMIN_CONTRACT])('%s is the same for another process', (file) => {
  const here = loadContract(file);
  const there = atOnce(deserialize(structuredClone(serialize(checkContract(file).compiled))));
  expect(there.json).toBe(here.json);
  expect(there.names).toEqual(here.names);
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
  expect(described(there)).toEqual(described(here));
});

function resolve(node: unknown): Node {
  const ref = (node as Node).$ref;
  if (typeof ref !== 'string') return node as Node;
  return resolve(
    ref
      .slice(2)
      .split('/')
      .reduce((at, key) => at[key] as Node, contract.document as Node),
  );
}

function examplesOf(content: unknown): Uint8Array[] {
  const media = ((content as Node | undefined)?.['application/json'] ?? {}) as Node;
  const named = Object.values((media.examples ?? {}) as Node).map(
    (example) => resolve(example).value,
  );
  const all = media.example === undefined ? named : [media.example, ...named];
  return all.map((value) => new TextEncoder().encode(JSON.stringify(value)));
}

function nodeOf({ path, method }: Operation): Node {
  return resolve(((contract.document.paths as Node)[path] as Node)[method.toLowerCase()]);
}

describe.each(contract.operations.map((operation) => [operation.id, operation] as const))(
  '%s',
  (_, operation) => {
    test('is found under its path', () => {
      const path = operation.path.replace(/\{[^}]*\}/g, '7');
      expect(contract.match(operation.method, path).operation).toBe(operation);
    });

    test('has valid examples', () => {
      const node = nodeOf(operation);
      if (node.requestBody !== undefined) {
        for (const bytes of examplesOf(resolve(node.requestBody).content)) {
          expect(operation.body!.media('application/json')!.check(bytes)).toEqual([]);
        }
      }
      for (const [status, response] of Object.entries(node.responses as Node)) {
        for (const bytes of examplesOf(resolve(response).content)) {
          expect(operation.checkResponse(Number(status), 'application/json', bytes)).toEqual([]);
        }
      }
    });
  },
);
