import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parse } from 'yaml';
import { createApi } from '../src/browser/model/api.ts';
import { groupTags } from '../src/browser/model/groups.ts';
import { headerWindows } from '../src/browser/model/limits.ts';
import { placeHash } from '../src/browser/model/places.ts';

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

describe('the fragment of an operation', () => {
  test('differs for each tag and id, whatever they are called', () => {
    const name = fc.string({ minLength: 1, unit: 'binary' }).filter((text) => text.isWellFormed());
    const id = name.filter((id) => !/^[a-z]+ \//.test(id));
    fc.assert(
      fc.property(name, id, (tag, id) => {
        const [, first, second] = placeHash(tag, id).split('/');
        expect([decodeURIComponent(first!), decodeURIComponent(second!)]).toEqual([tag, id]);
      }),
    );
  });

  test('without operationId has method and path', () => {
    expect(placeHash('Animals', 'get /pets/{petId}')).toBe('#/Animals/get_pets__petId_');
  });
});

describe('the limits in an answer', () => {
  test('are all its windows', () => {
    const headers = {
      ratelimit: '"minute";r=59;t=60, "day";r=999;t=86400',
      'ratelimit-policy': '"minute";q=60;w=60, "day";q=1000;w=86400',
    };
    expect(headerWindows(headers)).toEqual([
      { name: 'minute', limit: 60, remaining: 59 },
      { name: 'day', limit: 1000, remaining: 999 },
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
  const rows = [...createApi(contract).rows.values()].flat();
  expect(rows.length).toBeGreaterThan(10);
  const untried = rows.filter(({ operation }) => operation['x-try-it'] === false);
  expect(untried.map(({ method, path }) => `${method} ${path}`)).toEqual(['GET /store/orders']);
});
