import { describe, expect, test } from '@jest/globals';
import { atOnce, serialize, toJson } from '@storegate/openapi';
import { done, head, problemsOf } from '../../../packages/openapi/test/documents.ts';
import type { OperationSettings } from '../../../src/config/config.ts';
import { checkContract, deserialize, loadContract } from '../../../src/config/contract/contract.ts';

const FILE = `${import.meta.dirname}/none.json`;

const documentOf = (fields: object) =>
  toJson(
    {
      ...head,
      paths: { '/pets': { get: { operationId: 'listPets', responses: done, ...fields } } },
    },
    1,
  );

const NOTHING = { timeout: null, maxBodyBytes: null, cost: null };

function read(fields: object, settings: OperationSettings = {}) {
  const { compiled } = checkContract(FILE, { text: documentOf(fields) }, undefined, settings);
  const contract = atOnce(deserialize(structuredClone(serialize(compiled))));
  return { operation: contract.match('GET', '/pets').operation!, contract };
}

const EXPECTED = 'must be a duration from 1ms to 1d, such as 30s';

describe('x-timeout', () => {
  test.each([
    ['1ms', 1],
    ['30s', 30_000],
    ['1d', 86_400_000],
  ])('of %s', (text, timeout) => {
    expect(read({ 'x-timeout': text }).operation.headersTimeout).toBe(timeout);
  });

  test.each(['0s', '2d', '1.5s', '30', '', 30, null, {}])('cannot be %j', (value) => {
    expect(
      problemsOf(() => loadContract(FILE, { text: documentOf({ 'x-timeout': value }) })),
    ).toEqual([expect.stringContaining(EXPECTED)]);
  });

  test('is that of the upstream if it is left out', () => {
    expect(read({}).operation.headersTimeout).toBeNull();
  });
});

describe('settings of an operation', () => {
  const written = { 'x-timeout': '5s', 'x-max-body-bytes': 10, 'x-ratelimit-cost': 2 };

  test('replace what the document says, also in the document that is published', () => {
    const settings = { listPets: { timeout: 90_000, maxBodyBytes: 2 ** 30, cost: 7 } };
    const { operation, contract } = read(written, settings);
    expect(operation).toMatchObject({ headersTimeout: 90_000, largestBody: 2 ** 30, cost: 7 });
    expect(JSON.parse(contract.json).paths['/pets'].get).toMatchObject({
      'x-timeout': '90s',
      'x-max-body-bytes': 2 ** 30,
      'x-ratelimit-cost': 7,
    });
  });

  test('leave what they do not set', () => {
    const { operation, contract } = read(written, { listPets: NOTHING });
    expect(operation).toMatchObject({
      headersTimeout: 5_000,
      maxBodyBytes: 10,
      largestBody: null,
      cost: 2,
    });
    expect(contract.fingerprint).toBe(read(written).contract.fingerprint);
  });

  test.each([
    ['listPet', '; did you mean listPets?'],
    ['__proto__', ''],
    ['constructor', ''],
  ])('of an operation that the contract does not have are a mistake: %s', (id, hint) => {
    const settings = Object.fromEntries([[id, { ...NOTHING, cost: 2 }]]);
    expect(problemsOf(() => read({}, settings).contract)).toEqual([
      `1:1: has no operation ${id}, which operations in gateway.yaml names${hint}`,
    ]);
  });

  test('cannot cost more than a window of the document admits', () => {
    expect(
      problemsOf(
        () => read({ 'x-ratelimit': '5/minute' }, { listPets: { ...NOTHING, cost: 6 } }).contract,
      ),
    ).toEqual([expect.stringContaining('6 is more than 5 per minute')]);
  });
});
