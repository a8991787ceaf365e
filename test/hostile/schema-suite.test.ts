import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { checker } from '../../packages/openapi/test/documents.ts';

/**
 * The JSON Schema Test Suite, draft 4: the Schema Object of OpenAPI 3.0 is a subset of JSON Schema
 * Wright draft 00, which has the keywords of draft 4 with the same meaning.
 */
const folder = join(
  dirname(createRequire(import.meta.url).resolve('json-schema-test-suite')),
  'tests/draft4',
);

interface Group {
  readonly description: string;
  readonly schema: Record<string, unknown>;
  readonly tests: readonly {
    readonly description: string;
    readonly data: unknown;
    readonly valid: boolean;
  }[];
}

/** Keywords of JSON Schema that OpenAPI 3.0 does not have (Schema Object, "Properties"). */
const NOT_IN_OPENAPI = [
  '$ref',
  '$schema',
  'id',
  'definitions',
  'dependencies',
  'patternProperties',
  'additionalItems',
];

function isOpenApi(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isOpenApi);
  if (typeof schema !== 'object' || schema === null) return true;
  const { type, items } = schema as { type?: unknown; items?: unknown };
  if (NOT_IN_OPENAPI.some((keyword) => Object.hasOwn(schema, keyword))) return false;
  if (Array.isArray(type) || type === 'null' || Array.isArray(items)) return false;
  return Object.entries(schema).every(
    ([key, value]) => key === 'enum' || key === 'default' || isOpenApi(value),
  );
}

const files = readdirSync(folder).filter((file) => file.endsWith('.json'));
const groups = files.flatMap((file) =>
  (JSON.parse(readFileSync(join(folder, file), 'utf8')) as Group[])
    .filter(({ schema }) => isOpenApi(schema))
    .map((group) => [file.replace('.json', ''), group] as const),
);

test('the subset is not empty', () => {
  expect(groups.length).toBeGreaterThan(40);
  expect(new Set(groups.map(([keyword]) => keyword)).size).toBeGreaterThan(20);
});

describe.each(groups)('%s', (_keyword, { description, schema, tests }) => {
  test(description, () => {
    const faultsOf = checker(schema);
    const judged = tests.map((one) => ({
      ...one,
      valid: faultsOf(JSON.stringify(one.data)).length === 0,
    }));
    expect(judged).toEqual(tests);
  });
});
