import { type Body, OPERATIONS, type Operation, responses, schemas } from './admin-contract.ts';
import { nameIn, type Schema } from './schema.ts';
import { objectText, typeText } from './type-text.ts';

// Not openapi-typescript: it builds its output with the API of TypeScript 5, which TypeScript 7
// does not have.

type NamedOperation = (typeof OPERATIONS)[number];

const HEAD = '// Written by `npm run generate` from the contract of the admin API.';

/** The methods, paths, roles and statuses of the operations, and the parameters in queries that are not texts. */
export function adminOperations(): string {
  const routes = OPERATIONS.map(
    ({ operationId, method, path, 'x-role': role, responses: own }) =>
      `  ${operationId}: ['${method}', '${path}', '${role}', ${goodOf(own)[0]}],\n`,
  );
  const queried = new Map(
    OPERATIONS.flatMap(({ parameters }) => parameters)
      .filter(({ in: place }) => place === 'query')
      .map(({ name, schema }) => [name, schema]),
  );
  const namesOf = (type: string) =>
    [...queried]
      .filter(([, schema]) => typeOf(schema, '') === type)
      .map(([name]) => `'${name}'`)
      .join(', ');
  const values = [...new Map([...queried, ...Object.entries(schemas)])].flatMap(
    ([name, { enum: words }]) =>
      words === undefined || words.includes(null)
        ? []
        : [`  ${name}: [${words.map((word) => `'${word}'`).join(', ')}],\n`],
  );
  return [
    HEAD,
    '',
    '/** Method, path, lowest role and status of each operation. */',
    `export const ROUTES = {\n${routes.join('')}} as const;`,
    '',
    '// Parameters in queries that are not text.',
    `export const NUMBERS: ReadonlySet<string> = new Set([${namesOf('number')}]);`,
    `export const FLAGS: ReadonlySet<string> = new Set([${namesOf('boolean')}]);`,
    '',
    '/** Values of enumerations: parameters in queries by their names, schemas by their own. */',
    `export const VALUES = {\n${values.join('')}} as const;`,
    '',
  ].join('\n');
}

/**
 * The TypeScript types of the admin API: every schema and response of its contract, and the
 * parameters, bodies and responses of its operations.
 */
export function adminTypes(): string {
  const named = [
    ...Object.entries(schemas).filter(([, schema]) => !isScalar(schema)),
    ...Object.entries(responses).flatMap(([name, response]) =>
      json(response)!.$ref ? [] : [[name, json(response)!] as const],
    ),
  ];
  const operations = OPERATIONS.map(
    (operation) => `  readonly ${operation.operationId}: ${operationType(operation)};\n`,
  );
  return [
    `${HEAD} It has the meaning of the fields. Times are RFC 3339.\n`,
    ...named.map(([name, schema]) => declaration(name, schema)),
    `/** The parameters, body and response of each operation. */\nexport interface Operations {\n${operations.join('')}}\n`,
  ].join('\n');
}

function json({ content = {} }: Body): Schema | undefined {
  return content['application/json']?.schema;
}

/** A schema that may be null has its name without null; references to it add null. */
function typeOf(schema: Schema, indent: string): string {
  const { $ref } = schema;
  const named = $ref === undefined ? undefined : schemas[nameIn($ref)]!;
  if (named) return orNull(isScalar(named) ? withoutNull(named, indent) : nameIn($ref!), named);
  return orNull(withoutNull(schema, indent), schema);
}

function withoutNull(schema: Schema, indent: string): string {
  const { allOf, properties = {}, required = [] } = schema;
  if (allOf) return allOf.map((part) => typeOf(part, indent)).join(' & ');
  return typeText(schema, indent, typeOf, (inner) =>
    Object.entries(properties).map(([name, schema]) =>
      member(name, typeOf(schema, inner), required.includes(name)),
    ),
  );
}

/** JSON leaves out what is undefined, so optional members may be. */
function member(name: string, type: string, isRequired: boolean): string {
  const key = /^[a-z]\w*$/i.test(name) ? name : `'${name}'`;
  return isRequired ? `readonly ${key}: ${type}` : `readonly ${key}?: ${type} | undefined`;
}

function declaration(name: string, schema: Schema): string {
  const [own = schema, ...others] =
    schema.allOf?.toSorted((a, b) => Number(!!a.$ref) - Number(!!b.$ref)) ?? [];
  const type = withoutNull(own, '');
  if (!type.startsWith('{')) return `export type ${name} = ${type};\n`;
  const bases = others.map((other) => typeOf(other, '')).join(', ');
  return `export interface ${name} ${bases && `extends ${bases} `}${type}\n`;
}

function operationType(operation: NamedOperation): string {
  const { requestBody } = operation;
  const body = requestBody
    ? member('body', typeOf(json(requestBody)!, '    '), requestBody.required ?? false)
    : 'readonly body?: never';
  return objectText(
    [
      `readonly path: ${parametersIn(operation, 'path')}`,
      `readonly query: ${parametersIn(operation, 'query')}`,
      body,
      `readonly response: ${responseOf(operation)}`,
    ],
    '  ',
  );
}

function parametersIn({ parameters: all }: NamedOperation, place: string): string {
  const own = all.filter((one) => one.in === place);
  const members = own.map(({ name, schema, required = false }) =>
    member(name, typeOf(schema, '      '), required),
  );
  return members.length === 0 ? '{}' : objectText(members, '    ');
}

function goodOf(own: Operation['responses']): [status: string, response: Body] {
  return Object.entries(own).find(([status]) => status.startsWith('2'))!;
}

function responseOf({ responses: own }: Operation): string {
  const [, good] = goodOf(own);
  const schema = json(good.$ref === undefined ? good : responses[nameIn(good.$ref)]!);
  const named = good.$ref !== undefined && !schema!.$ref;
  return named ? nameIn(good.$ref!) : typeOf(schema!, '    ');
}

/**
 * Has no name in TypeScript, where its pattern and length are not checked. Also a list of scalars.
 */
function isScalar({ enum: values, type, items }: Schema): boolean {
  return (
    values === undefined &&
    type !== undefined &&
    type !== 'object' &&
    (items === undefined || isScalar(items))
  );
}

function orNull(type: string, { nullable, enum: values }: Schema): string {
  return nullable && !values?.includes(null) ? `${type} | null` : type;
}
