import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { checker } from './documents.ts';

type Json = Record<string, unknown>;
type Row = readonly [schema: Json, fitting: unknown, faults: Readonly<Record<string, unknown>>];

const table: Readonly<Record<string, Readonly<Record<string, Row>>>> = parse(
  readFileSync(join(import.meta.dirname, 'fixtures/keywords.yaml'), 'utf8'),
  { intAsBigInt: true },
);
const VERSIONS = ['3.0', '3.1', '3.2'];
const SECTIONS: Readonly<Record<string, readonly string[]>> = {
  'in every version': VERSIONS,
  'in OpenAPI 3.0': ['3.0'],
  'in OpenAPI 3.1': ['3.1', '3.2'],
};

const schemas = {
  text: { type: 'string' },
  pet: { type: 'object', required: ['kind'], properties: { kind: { type: 'string' } } },
  tree: {
    $id: 'https://example.com/tree',
    $dynamicAnchor: 'node',
    type: 'object',
    properties: { children: { type: 'array', items: { $dynamicRef: '#node' } } },
  },
};
const textsOf = (cell: unknown) => String(cell).split(/\s+/).filter(Boolean);

describe.each(VERSIONS)('OpenAPI %s', (version) => {
  const rows = Object.entries(table).flatMap(([section, all]) =>
    SECTIONS[section]!.includes(version) ? Object.entries(all) : [],
  );
  const own = version === '3.0' ? { text: schemas.text } : schemas;

  test.each(rows)('%s', (_, [schema, fitting, faults]) => {
    const check = checker(schema, own, undefined, `${version}.0`);
    for (const text of textsOf(fitting)) expect([text, check(text)]).toEqual([text, []]);
    for (const [sentences, texts] of Object.entries(faults))
      for (const text of textsOf(texts)) {
        const found = check(text);
        expect([text, found.length > 0]).toEqual([text, true]);
        if (sentences !== '*') expect([text, found]).toEqual([text, sentences.split('; ')]);
      }
  });
});
