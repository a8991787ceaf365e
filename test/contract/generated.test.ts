import { expect, test } from '@jest/globals';
import { OpenApi } from '../../bench/generated/document.ts';
import { Opinion } from '../../bench/generated/opinion.ts';
import { Random } from '../../bench/generated/random.ts';
import { Requests } from '../../bench/generated/requests.ts';
import { Values } from '../../bench/generated/values.ts';
import { faultsOf } from '../../bench/generated/verdict.ts';
import { shippedFiles } from '../../src/config/load.ts';
import { loadContract } from '../../src/contract/contract.ts';

const document = new OpenApi(shippedFiles.contract);
const random = new Random('shipped');
const requests = new Requests(document, new Values(document, new Opinion(document), random), random);

test('valid requests that are made of the shipped contract are taken, and others are not', () => {
  const contract = loadContract(shippedFiles.contract);
  const operations = [...document.operations()];
  const made = Array.from({ length: 10 }, () => operations.map((operation) => requests.make(operation))).flat();
  expect(made.length).toBeGreaterThan(contract.operations.length);
  expect(made.flatMap((request) => faultsOf(contract, request))).toEqual([]);
  const withBody = made.filter(({ body }) => body !== null);
  const emptied = withBody.map((request) => ({ ...request, body: { ...request.body!, bytes: Buffer.from('[') } }));
  expect(withBody.length).toBeGreaterThan(0);
  expect(emptied.filter((request) => faultsOf(contract, request).length === 0)).toEqual([]);
});
