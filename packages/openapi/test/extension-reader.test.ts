import { expect, test } from '@jest/globals';
import {
  atOnce,
  checkContract,
  createContract,
  deserialize,
  type ExtensionReader,
  loadContract,
  serialize,
} from '../src/index.ts';
import { done, head, notesOf, problemsOf } from './documents.ts';

const prices: ExtensionReader<{ readonly price: number }, { readonly dearest: number }> = {
  judgeField: (field) =>
    field === 'x-prise'
      ? { message: 'x-prise is not a field: did you mean x-price?', severity: 'refuse' }
      : null,
  read(document, _operations, findings) {
    if (document.root['x-price'] !== undefined)
      findings.refuse(document.root, 'x-price', 'belongs on operations');
    return {
      fieldsOf(_operation, node) {
        const price = node['x-price'] ?? 0;
        if (typeof price !== 'number') findings.problem(node, 'x-price', 'must be a number');
        if (price === 0) findings.note(node, null, 'has no price');
        return { price: typeof price === 'number' ? price : 0 };
      },
      sharedBy: (operations) => ({ dearest: Math.max(...operations.map(({ price }) => price)) }),
    };
  },
};

const get = (more: object) => ({ get: { responses: done, ...more } });
const options = (paths: object, more: object = {}) =>
  ({ text: JSON.stringify({ ...head, ...more, paths }), extensions: prices }) as const;

test('fields that the caller reads are fields of operations and of the contract, for another process too', () => {
  const { compiled, notes } = checkContract(
    'a.json',
    options({ '/a': get({ 'x-price': 3 }), '/b': get({}) }),
  );
  expect(notes.map(({ message }) => message)).toContain('has no price');
  for (const contract of [
    atOnce(createContract(compiled)),
    atOnce(createContract(atOnce(deserialize(structuredClone(serialize(compiled)))))),
  ]) {
    expect(contract.operations.map(({ path, price }) => [path, price])).toEqual([
      ['/a', 3],
      ['/b', 0],
    ]);
    expect(contract.match('GET', '/a').operation).toMatchObject({ price: 3 });
    expect(contract.dearest).toBe(3);
  }
});

test('their mistakes are mistakes of the document: of an operation, or never tolerated', () => {
  const paths = {
    '/a': get({ operationId: 'a', 'x-price': 'much' }),
    '/b': get({ operationId: 'b', 'x-price': 1 }),
  };
  const load = (leniency: 'refuse' | 'omit', more?: object) =>
    loadContract('a.json', { ...options(paths, more), onUnsupported: leniency });
  const places = (problems: string[]) =>
    problems.map((problem) => problem.replace(/^[0-9:]+ /, ''));
  expect(places(problemsOf(() => load('refuse')))).toEqual([
    '/paths/~1a/get/x-price: must be a number',
  ]);
  expect(load('omit')).toMatchObject({
    dearest: 1,
    operations: [{ id: 'b' }],
    exempted: [{ id: 'a' }],
  });
  const stray = { 'x-price': 1, 'x-prise': 2 };
  expect(places(problemsOf(() => load('omit', stray)))).toEqual([
    '/x-price: belongs on operations',
    '/x-prise: x-prise is not a field: did you mean x-price?',
  ]);
});

test('without a reader, unknown fields have no meaning and are not noted', () => {
  const contract = loadContract('a.json', {
    text: options({ '/a': get({ 'x-price': 3 }) }, { 'x-prise': 1 }).text,
  });
  expect(notesOf(contract)).toEqual([]);
  expect(contract.operations[0]).not.toHaveProperty('price');
});
