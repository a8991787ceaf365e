import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { publish } from '../src/publish.ts';

type Json = Record<string, unknown>;

function published(operation: Json, more: Json = {}): Json {
  const document = publish({ openapi: '3.0.3', paths: { '/pets': { get: operation } }, ...more });
  return (document.paths as Record<string, Record<string, Json>>)['/pets']!.get!;
}

describe('the published contract', () => {
  test('does not name the backends that answer', () => {
    const hidden = { 'x-storegate-upstream': 'stock' };
    const paths = { '/pets': { ...hidden, get: { ...hidden, example: hidden } } };
    const document = publish({ openapi: '3.0.3', tags: [{ name: 'a', ...hidden }], paths });
    expect(document.tags).toEqual([{ name: 'a' }]);
    expect(document.paths).toEqual({ '/pets': { get: { example: hidden } } });
  });

  test.each<[string, Json, Json]>([
    [
      'hides the button where trying is switched off',
      { 'x-try-it': false },
      { 'x-hideTryItPanel': true, 'x-hideReplay': true, 'x-explorer-enabled': false },
    ],
    ['says nothing where it is not', { 'x-try-it': true }, {}],
    [
      'marks what is experimental',
      { 'x-stability-level': 'experimental' },
      {
        'x-scalar-stability': 'experimental',
        'x-badges': [{ name: 'Experimental', color: 'purple' }],
      },
    ],
    [
      'marks what is beta, for which Scalar has no word',
      { 'x-stability-level': 'beta' },
      { 'x-beta': true, 'x-badges': [{ name: 'Beta', color: 'blue' }] },
    ],
    ['says nothing of what is stable', { 'x-stability-level': 'stable' }, {}],
    [
      'shows when a deprecated operation ends',
      { deprecated: true, 'x-sunset': '2027-10-01T00:00:00Z' },
      {
        'x-scalar-stability': 'deprecated',
        'x-badges': [{ name: 'Sunset 2027-10-01', color: 'orange' }],
      },
    ],
    [
      'lets deprecation speak before stability',
      { deprecated: true, 'x-stability-level': 'experimental' },
      {
        'x-scalar-stability': 'deprecated',
        'x-badges': [{ name: 'Experimental', color: 'purple' }],
      },
    ],
    [
      'shows what an operation costs, unless it is one',
      { 'x-ratelimit-cost': 5 },
      { 'x-badges': [{ name: 'Costs 5', color: 'grey' }] },
    ],
    ['says nothing of the usual cost', { 'x-ratelimit-cost': 1 }, {}],
  ])('%s', (_what, operation, expansion) => {
    expect(published(operation)).toEqual({ ...operation, ...expansion });
  });

  test('keeps what the author wrote in the words of others', () => {
    const own = {
      'x-try-it': false,
      'x-hideReplay': false,
      'x-stability-level': 'beta',
      'x-badges': [{ name: 'Mine' }],
    };
    expect(published(own)).toMatchObject(own);
  });

  test('reaches operations behind a reference', () => {
    const item = { get: { 'x-try-it': false } };
    const { 'x-items': items } = publish({
      paths: { '/pets': { $ref: '#/x-items/pets' } },
      'x-items': { pets: item },
    });
    expect(items).toEqual({ pets: { get: expect.objectContaining({ 'x-hideReplay': true }) } });
  });

  test('leaves examples alone that only look like operations', () => {
    const example = { paths: { '/pets': { get: { 'x-try-it': false } } } };
    expect(published({ example })).toEqual({ example });
  });

  test('does not touch the contract it is made from', () => {
    const document = { paths: { '/pets': { get: Object.freeze({ 'x-try-it': false }) } } };
    expect(publish(document)).not.toEqual(document);
    expect(document).toEqual({ paths: { '/pets': { get: { 'x-try-it': false } } } });
  });

  test('of the shipped contract differs in expansions only, and hides no operation', () => {
    const document = parse(
      readFileSync(join(import.meta.dirname, '../../../config/openapi.yaml'), 'utf8'),
    );
    const text = JSON.stringify(publish(document), (name, value) =>
      EXPANSIONS.has(name) ? undefined : value,
    );
    expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(document)));
    expect(JSON.stringify(publish(document))).not.toContain('x-internal');
  });
});

const EXPANSIONS = new Set([
  'x-hideTryItPanel',
  'x-hideReplay',
  'x-explorer-enabled',
  'x-scalar-stability',
  'x-beta',
  'x-badges',
]);
