import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { loadContract } from '@storegate/openapi';
import { ADMIN_CONTRACT, browserModules } from '../src/files.ts';
import { ROLES, ROUTES } from '../src/index.ts';

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly schema: { readonly type?: string; readonly $ref?: string };
}

const { operations, document } = loadContract(ADMIN_CONTRACT);
const { paths, components } = document as unknown as {
  readonly paths: Record<
    string,
    Record<
      string,
      { parameters?: readonly Parameter[]; 'x-role'?: string; responses: Record<string, unknown> }
    >
  >;
  readonly components: { readonly parameters: Record<string, Parameter> };
};

function parametersOf({ path, method }: { path: string; method: string }): Parameter[] {
  const { parameters: shared = [], ...item } = paths[path] as (typeof paths)[string] & {
    parameters?: readonly Parameter[];
  };
  const all = [...shared, ...(item[method.toLowerCase()]!.parameters ?? [])];
  return all.map(
    (one) => components.parameters[String(Object(one).$ref).split('/').at(-1)!] ?? one,
  );
}

describe('the contract of the admin API', () => {
  test('has exactly the operations that can be called, each with a role and one status of success', () => {
    const described = operations.map(({ id, method, path }) => {
      const { 'x-role': role, responses } = paths[path]![method.toLowerCase()]!;
      expect(ROLES).toContain(role);
      const statuses = Object.keys(responses).filter((status) => status.startsWith('2'));
      return [id, [method, path, role, ...statuses.map(Number)]];
    });
    expect(Object.fromEntries(described)).toEqual(ROUTES);
  });

  test('has no operation with one name in the path and in the query', () => {
    const both = operations.filter((operation) => {
      const names = parametersOf(operation).map(({ name }) => name);
      return new Set(names).size < names.length;
    });
    expect(both.map(({ id }) => id)).toEqual([]);
  });

  test('has one type for each name in queries', () => {
    const typed = operations
      .flatMap(parametersOf)
      .filter((one) => one.in === 'query')
      .map(({ name, schema }) => `${name} ${schema.type ?? 'string'}`);
    const names = [...new Set(typed)].map((one) => one.split(' ')[0]);
    expect(names.length).toBeGreaterThan(15);
    expect(names.length).toBe(new Set(names).size);
  });
});

test('the modules for browsers import only each other', () => {
  const modules = browserModules();
  expect(modules.map(([name]) => name)).toContain('text/index.ts');
  for (const [name, path] of modules) {
    const imported = [...readFileSync(path, 'utf8').matchAll(/ from '([^']+)'/g)];
    const foreign = imported.map(([, from]) => from!).filter((from) => !from.startsWith('.'));
    expect([name, foreign]).toEqual([name, []]);
  }
});
