import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { done, head } from '../../../packages/openapi/test/documents.ts';
import { loadContract } from '../../../src/config/contract/contract.ts';
import { folderWith } from '../folder.ts';

const KEY = 'x-storegate-upstream';
const get = (more: object) => ({ get: { responses: done, ...more } });

function load(document: object, leniency: 'refuse' | 'pass' = 'refuse') {
  const file = join(
    folderWith({ 'openapi.json': JSON.stringify({ ...head, ...document }) }),
    'openapi.json',
  );
  return loadContract(file, { onUnsupported: leniency });
}

function problemsIn(document: object, leniency: 'refuse' | 'pass' = 'refuse'): string[] {
  try {
    load(document, leniency);
    return [];
  } catch (error) {
    const { problems } = error as { problems: { place: string; message: string }[] };
    return problems.map(({ place, message }) => `${place.replace(/^\d+:\d+ /, '')}: ${message}`);
  }
}

test('the upstream of an operation comes from the operation, its path or its tags', () => {
  const { operations } = load({
    tags: [{ name: 'a', [KEY]: 'of-tag' }, { name: 'b', [KEY]: 'of-other' }, { name: 'c' }],
    paths: {
      '/none': get({ operationId: 'none', tags: ['c'] }),
      '/tag': get({ operationId: 'tag', tags: ['c', 'a'] }),
      '/same': get({ operationId: 'same', tags: ['a', 'a'] }),
      '/path': { [KEY]: 'of-path', ...get({ operationId: 'path', tags: ['a', 'b'] }) },
      '/own': { [KEY]: 'of-path', ...get({ operationId: 'own', tags: ['a', 'b'], [KEY]: 'own' }) },
    },
  });
  expect(operations.map(({ id, upstream }) => [id, upstream])).toEqual([
    ['none', null],
    ['tag', 'of-tag'],
    ['same', 'of-tag'],
    ['path', 'of-path'],
    ['own', 'own'],
  ]);
});

describe('is refused, whatever contract.onUnsupported:', () => {
  const form =
    'must be the name of an upstream: 1 to 32 small letters, digits and hyphens that begin with a letter';
  test.each<[string, object, string[]]>([
    [
      'an invalid name',
      { paths: { '/a': get({ operationId: 'a', [KEY]: 'http://10.0.0.1' }) } },
      [`/paths/~1a/get/${KEY}: http://10.0.0.1 is not an upstream name: it ${form}`],
    ],
    [
      'a value that is not a text',
      { paths: { '/a': { [KEY]: 7, ...get({ operationId: 'a' }) } } },
      [`/paths/~1a/${KEY}: ${form}`],
    ],
    [
      'one at a tag',
      { tags: [{ name: 't', [KEY]: '' }], paths: { '/a': get({ operationId: 'a' }) } },
      [`/tags/0/${KEY}:  is not an upstream name: it ${form}`],
    ],
    [
      'two tags that disagree',
      {
        tags: [
          { name: 't', [KEY]: 'one' },
          { name: 'u', [KEY]: 'two' },
        ],
        paths: { '/a': get({ operationId: 'a', tags: ['t', 'u'] }) },
      },
      [
        `/paths/~1a/get/tags: have the upstreams one and two: ${KEY} on the operation must name one`,
      ],
    ],
    [
      'one at the document',
      { [KEY]: 'stock', paths: { '/a': get({ operationId: 'a' }) } },
      [
        `/${KEY}: has no effect here: it belongs on an operation, or on a path, or on a tag in tags`,
      ],
    ],
  ])('%s', (_what, document, problems) => {
    expect(problemsIn(document)).toEqual(problems);
    expect(problemsIn(document, 'pass')).toEqual(problems);
  });
});
