import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parse } from 'yaml';
import { groupTags } from '../src/browser/groups.ts';
import { operationHash, placeOf } from '../src/browser/places.ts';
import { headerWindows } from '../src/browser/plugins/limits.ts';
import { tryIt } from '../src/browser/plugins/try-it.ts';
import { asReceived, connectSystem, type System } from '../src/browser/swagger-ui.ts';

describe('tags', () => {
  const groups = [
    { name: 'Pets', tags: ['Animals', 'Categories'] },
    { name: 'Store', tags: ['Orders'] },
  ];

  test('stand under their groups in the order of the contract', () => {
    expect(groupTags(['Orders', 'Categories', 'Animals'], groups)).toEqual(groups);
  });

  test('of no group come last', () => {
    expect(groupTags(['Orders', 'Extra'], groups)).toEqual([
      { name: 'Store', tags: ['Orders'] },
      { name: 'More', tags: ['Extra'] },
    ]);
  });

  test.each([undefined, null, 'Pets', [null, 7, { tags: 'x' }]])(
    'need no groups that make sense: %j',
    (nonsense) => {
      expect(groupTags(['Orders'], nonsense)).toEqual([{ name: 'Operations', tags: ['Orders'] }]);
    },
  );

  test('appear once each, whatever the groups say', () => {
    const names = fc.constantFrom('a', 'b', 'c', 'd');
    const anyGroups = fc.array(fc.record({ name: fc.string(), tags: fc.array(names) }));
    fc.assert(
      fc.property(fc.uniqueArray(names), anyGroups, (tags, groups) => {
        expect(
          groupTags(tags, groups)
            .flatMap((group) => group.tags)
            .sort(),
        ).toEqual([...tags].sort());
      }),
    );
  });
});

describe('the address of an operation', () => {
  test('leads back to it, whatever its tag and id are called', () => {
    const name = fc.string({ minLength: 1, unit: 'binary' }).filter((text) => text.isWellFormed());
    fc.assert(
      fc.property(
        name,
        name.filter((id) => !/^[a-z]+ \//.test(id)),
        (tag, id) => {
          expect(placeOf(operationHash(tag, { id }))).toEqual({ tag, id });
        },
      ),
    );
  });

  test('of one without operationId names it as Swagger UI does', () => {
    expect(operationHash('Animals', { id: 'get /pets/{petId}' })).toBe(
      '#/Animals/get_pets__petId_',
    );
  });

  test.each(['', '#limits', '#/Animals', '#/a/b/c', '#/%E0%A4/x'])('is not %j', (hash) => {
    expect(placeOf(hash)).toBeNull();
  });
});

describe('the headers of an answer', () => {
  test('are as they were received, though Swagger UI cuts them at their commas', () => {
    const headers = {
      date: 'Sat, 21 Nov 2026 10:00:00 GMT',
      ratelimit: '"a";r=1,"b";r=2, "c";r=3,  "d";r=4',
      age: '1',
    };
    const cut = Object.entries(headers).map(([name, value]) => [
      name,
      value.includes(', ') ? value.split(', ') : value,
    ]);
    expect(asReceived(Object.fromEntries(cut))).toEqual(headers);
  });
});

describe('the limits in an answer', () => {
  test('are all its windows', () => {
    const headers = {
      ratelimit: '"minute";r=59;t=60, "day";r=999;t=86400',
      'ratelimit-policy': '"minute";q=60;w=60, "day";q=1000;w=86400',
    };
    expect(headerWindows(headers)).toEqual([
      { name: 'minute', limit: 60, remaining: 59, seconds: 60 },
      { name: 'day', limit: 1000, remaining: 999, seconds: 86400 },
    ]);
  });

  test.each([{}, { ratelimit: '' }, { ratelimit: 'limit=60' }, { ratelimit: '"minute";t=60' }])(
    'are empty without headers: %j',
    (headers) => {
      expect(headerWindows(headers)).toEqual([]);
    },
  );
});

test('of the shipped contract, every operation but GET /store/orders can be tried', () => {
  const contract = parse(
    readFileSync(join(import.meta.dirname, '../../../config/openapi.yaml'), 'utf8'),
  );
  const document = { toJS: () => contract };
  const system = { React: {}, specSelectors: { specJson: () => document } } as unknown as System;
  connectSystem.afterLoad!(system);
  const { allowTryItOutFor } = tryIt.statePlugins!.spec!.wrapSelectors!;
  const mayTry = allowTryItOutFor!(() => true);
  const operations = Object.entries<object>(contract.paths).flatMap(([path, item]) =>
    Object.keys(item)
      .filter((method) => method !== 'parameters')
      .map((method) => [path, method] as const),
  );
  expect(operations.length).toBeGreaterThan(10);
  expect(operations.filter(([path, method]) => !mayTry({}, path, method))).toEqual([
    ['/store/orders', 'get'],
  ]);
});
