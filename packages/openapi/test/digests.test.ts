import { expect, test } from '@jest/globals';
import { loadContract } from '../src/index.ts';

const DOCUMENT = `openapi: 3.0.3
info: { title: Trees, version: '1' }
paths:
  /trees:
    get:
      operationId: getTree
      responses:
        '200': { description: Good., content: { application/json: { schema: { $ref: '#/components/schemas/Tree' } } } }
  /leaves:
    parameters: [{ $ref: '#/components/parameters/size' }]
    get: { operationId: getLeaf, responses: { '200': { description: Good. } } }
components:
  parameters:
    size: { name: size, in: query, schema: { type: integer } }
  schemas:
    Tree:
      type: object
      properties:
        children: { type: array, items: { $ref: '#/components/schemas/Tree' } }
        root: { $ref: '#/components/schemas/Root' }
    Root: { type: string, maxLength: 10 }
`;

const digests = (text: string) => loadContract('digests.yaml', { text }).digests;

function changedBy(search: string, replacement: string): string[] {
  expect(DOCUMENT).toContain(search);
  const [before, after] = [digests(DOCUMENT), digests(DOCUMENT.replace(search, replacement))];
  return [...after].filter(([id, digest]) => before.get(id) !== digest).map(([id]) => id);
}

test.each([
  ['what it says itself', '/json: { schema', '/json: { example: {}, schema', ['getTree']],
  [
    'what it refers to, through something that refers to itself',
    'maxLength: 10',
    'maxLength: 11',
    ['getTree'],
  ],
  ['what stands with its path', 'type: integer', 'type: number', ['getLeaf']],
  ['nothing, where no operation is meant', 'title: Trees', 'title: Bushes', []],
  [
    'the form of the text alone',
    '{ type: string, maxLength: 10 }',
    '\n      type: string\n      maxLength: 10',
    [],
  ],
])('an operation has another digest after a change of %s', (_what, search, replacement, ids) => {
  expect(changedBy(search, replacement)).toEqual(ids);
});

test('every operation that is enforced has a digest of its own', () => {
  const all = digests(DOCUMENT);
  expect([...all.keys()]).toEqual(['getTree', 'getLeaf']);
  expect(new Set(all.values()).size).toBe(2);
});

test('changes with a schema that only a dynamic reference leads to', () => {
  const document = (leaf: object) =>
    JSON.stringify({
      openapi: '3.1.0',
      info: { title: 'Trees', version: '1' },
      paths: {
        '/trees': {
          post: {
            operationId: 'addTree',
            requestBody: {
              content: { 'application/json': { schema: { $ref: '#/components/schemas/Tree' } } },
            },
          },
        },
        '/leaves': { get: { operationId: 'getLeaf' } },
      },
      components: {
        schemas: {
          Tree: {
            $id: 'https://example.com/tree',
            $defs: { leaf: { $dynamicAnchor: 'leaf' } },
            properties: { leaf: { $dynamicRef: '#leaf' } },
          },
          Leaf: { $dynamicAnchor: 'leaf', ...leaf },
        },
      },
    });
  const [before, after] = [
    digests(document({ maxLength: 1 })),
    digests(document({ maxLength: 2 })),
  ];
  expect([...after].filter(([id, digest]) => before.get(id) !== digest).map(([id]) => id)).toEqual([
    'addTree',
  ]);
});
