import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { configType } from './config-type.ts';
import { writeSnapshot } from './formats.ts';
import { prometheusRule } from './prometheus-rule.ts';
import { settingsFile } from './settings-file.ts';
import { listText, objectText } from './type-text.ts';

// Not openapi-typescript: it builds its output with the API of TypeScript 5, which TypeScript 7
// does not have.

const root = join(import.meta.dirname, '..');
const CONTRACT = join(root, 'config/admin.openapi.yaml');
const TYPES = join(root, 'packages/console/src/admin-api.ts');
const SETTINGS = join(root, 'src/config/config.generated.ts');
const SETTINGS_FILE = join(root, 'config/gateway.yaml');
const RULE = join(root, 'deploy/kubernetes/monitoring/prometheus-rule.yaml');

interface Schema {
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';
  readonly nullable?: boolean;
  readonly enum?: readonly (string | null)[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
}

interface Response {
  readonly $ref?: string;
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

interface Parameter {
  readonly $ref?: string;
  readonly name: string;
  readonly in: string;
}

interface Contract {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly parameters: Readonly<Record<string, Parameter>>;
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly responses: Readonly<Record<string, Response>>;
  };
}

interface Operation {
  readonly operationId?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Response;
  readonly responses: Readonly<Record<string, Response>>;
}

/**
 * The TypeScript types of the admin API: every schema and response of its contract, and the
 * requests and answers of its operations.
 */
export function adminTypes(): string {
  const { paths, components } = parse(readFileSync(CONTRACT, 'utf8')) as Contract;
  const { schemas, responses, parameters } = components;

  const nameIn = (ref: string) => ref.slice(ref.lastIndexOf('/') + 1);
  const json = ({ content = {} }: Response) => content['application/json']?.schema;

  /** A schema that may be null has its name without null; references to it add null. */
  function typeOf(schema: Schema, indent: string): string {
    const { $ref } = schema;
    const named = $ref === undefined ? undefined : schemas[nameIn($ref)]!;
    if (named) return orNull(isScalar(named) ? withoutNull(named, indent) : nameIn($ref!), named);
    return orNull(withoutNull(schema, indent), schema);
  }

  function withoutNull(schema: Schema, indent: string): string {
    const { allOf, enum: values, type, items, properties, additionalProperties: others } = schema;
    if (allOf) return allOf.map((part) => typeOf(part, indent)).join(' & ');
    if (values) return values.map((value) => (value === null ? 'null' : `'${value}'`)).join(' | ');
    if (type === 'integer' || type === 'number') return 'number';
    if (type === 'string' || type === 'boolean') return type;
    if (type === 'array') return listText(typeOf(items!, indent));
    if (properties) return objectOf(schema, indent);
    if (type === 'object')
      return `Readonly<Record<string, ${others instanceof Object ? typeOf(others, indent) : 'unknown'}>>`;
    return 'unknown';
  }

  function objectOf({ properties = {}, required = [] }: Schema, indent: string): string {
    const members = Object.entries(properties).map(([name, schema]) => {
      const key = /^[a-z]\w*$/i.test(name) ? name : `'${name}'`;
      return `readonly ${key}${required.includes(name) ? '' : '?'}: ${typeOf(schema, `${indent}  `)}`;
    });
    return objectText(members, indent);
  }

  function declaration(name: string, schema: Schema): string {
    const [own = schema, ...others] =
      schema.allOf?.toSorted((a, b) => Number(!!a.$ref) - Number(!!b.$ref)) ?? [];
    const type = withoutNull(own, '');
    if (!type.startsWith('{')) return `export type ${name} = ${type};\n`;
    const bases = others.map((other) => typeOf(other, '')).join(', ');
    return `export interface ${name} ${bases && `extends ${bases} `}${type}\n`;
  }

  function answerOf({ responses: own }: Operation): string {
    const [, good] = Object.entries(own).find(([status]) => status.startsWith('2'))!;
    const schema = json(good.$ref === undefined ? good : responses[nameIn(good.$ref)]!);
    if (schema === undefined) return 'null';
    return good.$ref === undefined || schema.$ref ? typeOf(schema, '  ') : nameIn(good.$ref);
  }

  function callOf(
    method: string,
    path: string,
    { parameters: own = [], requestBody }: Operation,
  ): string {
    const query = own
      .map((one) => (one.$ref === undefined ? one : parameters[nameIn(one.$ref)]!))
      .filter((one) => one.in === 'query');
    const members = [
      `readonly request: \`${method.toUpperCase()} ${path.replace(/\{\w+\}/g, `\${string}`)}\``,
      ...(query.length > 0
        ? [`readonly query: ${query.map(({ name }) => `'${name}'`).join(' | ')}`]
        : []),
      ...(requestBody ? [`readonly body: ${typeOf(json(requestBody)!, '    ')}`] : []),
    ];
    return objectText(members, '  ');
  }

  const named = [
    ...Object.entries(schemas).filter(([, schema]) => !isScalar(schema)),
    ...Object.entries(responses).flatMap(([name, response]) =>
      json(response)!.$ref ? [] : [[name, json(response)!] as const],
    ),
  ];
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, operation]) =>
      operation.operationId === undefined
        ? []
        : [
            {
              id: operation.operationId,
              answer: answerOf(operation),
              call: callOf(method, path, operation),
            },
          ],
    ),
  );
  return [
    '// Written by `npm run generate` from config/admin.openapi.yaml, which says what the fields mean. Times are RFC 3339.\n',
    ...named.map(([name, schema]) => declaration(name, schema)),
    `/** The answer of each operation. */\nexport interface Answers {\n${operations.map(({ id, answer }) => `  readonly ${id}: ${answer};\n`).join('')}}\n`,
    `/** The request of each operation: its method and path, the names in its query, and its body. */\nexport interface Calls {\n${operations.map(({ id, call }) => `  readonly ${id}: ${call};\n`).join('')}}\n`,
  ].join('\n');
}

/**
 * Has no name in TypeScript, where its pattern and length are not checked. Also a list of scalars.
 */
const isScalar = ({ enum: values, type, items }: Schema): boolean =>
  values === undefined &&
  type !== undefined &&
  type !== 'object' &&
  (items === undefined || isScalar(items));

const orNull = (type: string, { nullable, enum: values }: Schema): string =>
  nullable && !values?.includes(null) ? `${type} | null` : type;

if (import.meta.main) {
  writeFileSync(TYPES, adminTypes());
  writeFileSync(SETTINGS, configType());
  writeFileSync(SETTINGS_FILE, settingsFile());
  writeFileSync(RULE, prometheusRule());
  writeSnapshot(process.argv.includes('--breaking'));
}
