import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parse } from '@babel/parser';
import type {
  Statement,
  TSInterfaceDeclaration,
  TSType,
  TSTypeAliasDeclaration,
} from '@babel/types';
import { type Manifest, manifests } from './manifests.ts';

// Writes api.json: the part of the APIs of Kubernetes, Prometheus operator and Gateway API that the
// manifests use, strict. The registry has no copy of these OpenAPI documents, but packages with
// types that are generated from them: npm install --prefix FOLDER --ignore-scripts
// kubernetes-models @kubernetes-models/prometheus-operator @kubernetes-models/gateway-api node
// test/deploy/kubernetes/reduce-api.ts FOLDER
const PACKAGES = [
  'kubernetes-models',
  '@kubernetes-models/prometheus-operator',
  '@kubernetes-models/gateway-api',
] as const;

type Schema = Readonly<Record<string, unknown>>;
interface ObjectSchema {
  readonly type: 'object';
  readonly additionalProperties: false;
  required?: string[];
  readonly properties: Record<string, Schema>;
}

interface Module {
  readonly name: string;
  readonly folder: string;
  readonly declaration: TSInterfaceDeclaration | TSTypeAliasDeclaration;
  readonly imports: ReadonlyMap<string, string>;
}

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('name the folder in which the packages are installed');
const packages = resolve(folder, 'node_modules');
const modules = new Map<string, Module>();
const schemas = new Map<string, ObjectSchema>();

function read(path: string): Module {
  const existing = modules.get(path);
  if (existing) return existing;
  const { body } = parse(readFileSync(path, 'utf8'), {
    sourceType: 'module',
    plugins: ['typescript'],
  }).program;
  const declaration = body.map(declarationOf).find((found) => found !== null);
  if (!declaration) throw new Error(`${path} declares no type`);
  const imports = body.flatMap((statement) => {
    if (statement.type !== 'ImportDeclaration') return [];
    return statement.specifiers.map(({ local }) => [local.name, statement.source.value] as const);
  });
  const name = path
    .slice(packages.length + 1, -'.d.ts'.length)
    .replace(/[^A-Za-z0-9]+/g, '.')
    .replace(/^\./, '');
  const module = { name, folder: dirname(path), declaration, imports: new Map(imports) };
  modules.set(path, module);
  return module;
}

function declarationOf(statement: Statement): Module['declaration'] | null {
  const declaration = statement.type === 'ExportNamedDeclaration' ? statement.declaration : null;
  const isType =
    declaration?.type === 'TSInterfaceDeclaration' ||
    declaration?.type === 'TSTypeAliasDeclaration';
  return isType ? declaration : null;
}

function imported({ folder: from, imports }: Module, name: string): Module {
  const source = imports.get(name);
  if (source === undefined) throw new Error(`${name} is not imported`);
  const path = source.startsWith('.')
    ? resolve(from, source.replace(/\.js$/, ''))
    : join(packages, source);
  return read(`${path}.d.ts`);
}

/**
 * `null` for an object that no manifest has: with all of them the document would have a megabyte.
 */
function schemaOf(type: TSType, module: Module, values: readonly unknown[]): Schema | null {
  switch (type.type) {
    case 'TSStringKeyword':
      return { type: 'string' };
    case 'TSBooleanKeyword':
      return { type: 'boolean' };
    // These APIs have no other numbers.
    case 'TSNumberKeyword':
      return { type: 'integer' };
    case 'TSLiteralType':
      return { type: 'string', enum: [(type.literal as { value: string }).value] };
    case 'TSUnionType':
      return unionOf(type.types, module);
    case 'TSTypeLiteral': {
      const [index] = type.members;
      if (index?.type !== 'TSIndexSignature') break;
      const inner = schemaOf(
        index.typeAnnotation!.typeAnnotation,
        module,
        values.flatMap(membersOf),
      );
      return inner && { type: 'object', additionalProperties: inner };
    }
    case 'TSTypeReference':
      return referenceOf(
        type.typeName as { name: string },
        type.typeParameters?.params ?? [],
        module,
        values,
      );
  }
  throw new Error(`${module.name} has a type that this program does not know: ${type.type}`);
}

const membersOf = (value: unknown): unknown[] =>
  value instanceof Object ? Object.values(value) : [];

function unionOf(types: readonly TSType[], module: Module): Schema {
  const all = types.map((type) => schemaOf(type, module, [])!);
  if (all.every(({ enum: values }) => values))
    return { type: 'string', enum: all.flatMap((one) => one.enum) };
  return { anyOf: all };
}

function referenceOf(
  { name }: { readonly name: string },
  [item]: readonly TSType[],
  module: Module,
  values: readonly unknown[],
): Schema | null {
  if (name === 'Array') {
    const items = schemaOf(item!, module, values.flat());
    return items && { type: 'array', items };
  }
  const target = imported(module, name);
  if (target.declaration.type === 'TSTypeAliasDeclaration')
    return schemaOf(target.declaration.typeAnnotation, target, values);
  if (values.length === 0) return null;
  addObject(target, values);
  return { $ref: `#/components/schemas/${target.name}` };
}

function addObject(module: Module, values: readonly unknown[]): void {
  const schema = schemas.get(module.name) ?? {
    type: 'object',
    additionalProperties: false,
    properties: {},
  };
  schemas.set(module.name, schema);
  const required = new Set<string>();
  for (const { owner, key, type, optional } of fieldsOf(module)) {
    const own = values.flatMap((value) => (value as Record<string, unknown> | null)?.[key] ?? []);
    const found = schemaOf(type, owner, own);
    if (found) schema.properties[key] = found;
    if (!optional) required.add(key);
  }
  if (required.size > 0) schema.required = [...required];
}

interface Field {
  readonly owner: Module;
  readonly key: string;
  readonly type: TSType;
  readonly optional: boolean;
}

/** With those of the interfaces that it extends. */
function fieldsOf(owner: Module): Field[] {
  const declaration = owner.declaration as TSInterfaceDeclaration;
  const bases = (declaration.extends ?? []).map(
    ({ expression }) => (expression as { name: string }).name,
  );
  const inherited = bases
    .filter((name) => name !== 'TypeMeta')
    .flatMap((name) => fieldsOf(imported(owner, name)));
  const own = declaration.body.body.map((member): Field => {
    if (member.type !== 'TSPropertySignature') throw new Error(`${owner.name} has ${member.type}`);
    const { value: key } = member.key as { value: string };
    return {
      owner,
      key,
      type: member.typeAnnotation!.typeAnnotation,
      optional: member.optional === true,
    };
  });
  return [...inherited, ...own];
}

function rootOf({ apiVersion, kind }: Manifest): Module {
  const path = PACKAGES.map((name) => join(packages, name, apiVersion, `${kind}.d.ts`)).find(
    (one) => existsSync(one),
  );
  if (path === undefined) throw new Error(`no package has ${apiVersion} ${kind}`);
  return read(path);
}

const paths: Record<string, Schema> = {};
for (const manifest of manifests()) {
  const root = rootOf(manifest);
  addObject(root, [manifest]);
  const schema = { $ref: `#/components/schemas/${root.name}` };
  const requestBody = { required: true, content: { 'application/json': { schema } } };
  paths[`/${manifest.apiVersion}/${manifest.kind}`] = {
    post: { requestBody, responses: { default: { description: 'Not checked.' } } },
  };
}
const versions = PACKAGES.map((name) => {
  const { version } = JSON.parse(readFileSync(join(packages, name, 'package.json'), 'utf8')) as {
    version: string;
  };
  return `${name} ${version}`;
});
const info = {
  title: 'The API of Kubernetes, as far as the manifests use it',
  version: versions.join(', '),
};
const sorted = Object.fromEntries([...schemas].sort(([a], [b]) => (a < b ? -1 : 1)));

/** A line for each path and schema, which a comparison of two versions shows well. */
const linesOf = (all: Readonly<Record<string, Schema | ObjectSchema>>) =>
  Object.entries(all)
    .map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`)
    .join(',\n');

writeFileSync(
  join(import.meta.dirname, 'api.json'),
  `{
"openapi": "3.0.3",
"info": ${JSON.stringify(info)},
"paths": {
${linesOf(paths)}
},
"components": { "schemas": {
${linesOf(sorted)}
} }
}
`,
);
