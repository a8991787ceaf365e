import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { loadContract } from '../src/index.ts';
import { short } from './documents.ts';

// biome-ignore lint/suspicious/noExplicitAny: any node of a document.
type Node = any;

test('the examples of bodies in the shipped contract are valid', () => {
  const contract = loadContract(
    fileURLToPath(new URL('../../../config/openapi.yaml', import.meta.url)),
  );
  const root: Node = contract.document;
  const at = (ref: string) => ref.split('/').reduce((node, name) => node[name] ?? node, root);
  const follow = (node: Node): Node => (node?.$ref ? follow(at(node.$ref)) : node);
  const faults = contract.operations.flatMap(({ method, path, body }) => {
    const { requestBody } = follow(root.paths[path])[method.toLowerCase()];
    const content: [string, Node][] = Object.entries(follow(requestBody)?.content ?? {});
    return content.flatMap(([type, { example, examples = {} }]) =>
      [{ value: example }, ...Object.values(examples).map(follow)]
        .filter(({ value }) => value !== undefined)
        .map(({ value }) => short(body!.media(type)!.check(Buffer.from(JSON.stringify(value))))),
    );
  });
  expect(faults.length).toBeGreaterThan(3);
  expect(faults.flat()).toEqual([]);
});
