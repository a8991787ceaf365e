import type { Api } from './api.ts';
import type { Schema, SchemaNode } from './document.ts';

/** The types of a schema, `null` among them; empty for any type. */
export function typesOf(schema: Schema): readonly string[] {
  const types = [schema.type ?? inferred(schema)].flat();
  return schema.nullable && types.length > 0 ? [...types, 'null'] : types;
}

function inferred({
  properties,
  additionalProperties,
  items,
  prefixItems,
}: Schema): string[] {
  if (properties ?? additionalProperties) return ['object'];
  return (items ?? prefixItems) ? ['array'] : [];
}

/** The component that a schema refers to. */
export const nameOf = (node: SchemaNode): string | undefined => {
  if (typeof node !== 'object') return undefined;
  const [only, ...others] = node.allOf ?? [];
  const ref =
    node.$ref ??
    (others.length === 0 && typeof only === 'object' ? only.$ref : undefined);
  return ref === undefined
    ? undefined
    : decodeURIComponent(ref.slice(ref.lastIndexOf('/') + 1));
};

/** Lists inside of each other: one may contain itself. */
const DEEPEST = 3;

/** `Pet`, `array<integer>`, `string | null`, `Cat | Dog`. */
export function typeText(
  api: Api,
  node: SchemaNode | undefined,
  depth = 0,
): string {
  const schema = api.schema(node);
  const options = schema.oneOf ?? schema.anyOf;
  const types = typesOf(schema);
  const named = node !== undefined && nameOf(node);
  if (named && (options ?? types.includes('object'))) return named;
  if (options && types.length === 0 && depth < DEEPEST)
    return [
      ...new Set(options.map((option) => typeText(api, option, depth + 1))),
    ].join(' | ');
  const texts = types.map((type) =>
    type === 'array' && schema.items !== undefined && depth < DEEPEST
      ? `array<${typeText(api, schema.items, depth + 1)}>`
      : type,
  );
  return texts.join(' | ') || 'any';
}

/** `*` is the value of the keyword. */
const FACTS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    format: '*',
    enum: 'one of *',
    minimum: '≥ *',
    exclusiveMinimum: '> *',
    maximum: '≤ *',
    exclusiveMaximum: '< *',
    multipleOf: 'multiple of *',
    minLength: '≥ * characters',
    maxLength: '≤ * characters',
    pattern: 'matches *',
    minItems: '≥ * items',
    maxItems: '≤ * items',
    uniqueItems: 'unique items',
    minProperties: '≥ * members',
    maxProperties: '≤ * members',
    contentMediaType: '*',
    contentEncoding: '*',
    const: 'always *',
    default: 'default *',
    readOnly: 'only in responses',
    writeOnly: 'only in requests',
    deprecated: 'deprecated',
  }),
);

/** Constraints of values, in words. */
export const factsOf = (schema: Schema): readonly string[] =>
  keywordsOf(schema).flatMap(([name, value]) => factOf(name, value) ?? []);

/** With their values. OpenAPI 3.0 writes `exclusiveMinimum: true` beside `minimum`. */
export const keywordsOf = (schema: Schema) =>
  Object.entries(schema).map(([keyword, value]) => {
    const exclusive = keyword.replace('m', 'exclusiveM');
    return [schema[exclusive] === true ? exclusive : keyword, value] as const;
  });

export function factOf(keyword: string, value: unknown): string | undefined {
  const text = FACTS.get(keyword);
  if (!text?.includes('*')) return value === true ? text : undefined;
  if (keyword.startsWith('exclusive') && typeof value === 'boolean') return;
  const values = keyword === 'enum' ? (value as unknown[]) : [value];
  return text.replace('*', () => values.map(shortText).join(', '));
}

export const shortText = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? '');

export interface Member {
  readonly name: string;
  readonly node: SchemaNode;
  readonly required: boolean;
  /** Whether `name` is a name in the data. */
  readonly isName: boolean;
}

/** Keywords with one schema, with a list and with a map of schemas, and the words for them. */
const PARTS: Readonly<Record<string, string>> = {
  patternProperties: 'names that match *',
  dependentSchemas: 'with *',
  additionalProperties: 'other members',
  unevaluatedProperties: 'other members',
  propertyNames: 'names',
  prefixItems: 'item *',
  items: 'each item',
  unevaluatedItems: 'other items',
  contains: 'some item',
  contentSchema: 'content',
  oneOf: 'one of: *',
  anyOf: 'any of: *',
  not: 'not',
  if: 'if',
  // biome-ignore lint/suspicious/noThenProperty: it is a keyword of JSON Schema.
  then: 'then',
  else: 'else',
};

/** The schemas inside of a schema. The members of items stand for a list of objects. */
export function membersOf(
  api: Api,
  node: SchemaNode,
  depth = 0,
): readonly Member[] {
  const schema = api.schema(node);
  const required = new Set(schema.required);
  const own = Object.entries(schema.properties ?? {}).map(([name, part]) => {
    return { name, node: part, required: required.has(name), isName: true };
  });
  const parts = Object.entries(PARTS).flatMap(([keyword, name]) =>
    partsIn(api, schema, keyword, name),
  );
  const all = [...own, ...parts];
  const [only] = all;
  return all.length === 1 && only!.node === schema.items && depth < DEEPEST
    ? membersOf(api, only!.node, depth + 1)
    : all;
}

function partsIn(
  api: Api,
  schema: Schema,
  keyword: string,
  label: string,
): Member[] {
  const value = schema[keyword];
  if (typeof value !== 'object' || value === null) return [];
  const member = (name: string, node: SchemaNode) => {
    return {
      name: label.replace('*', () => name),
      node,
      required: false,
      isName: false,
    };
  };
  if (Array.isArray(value)) {
    return value.map((node: SchemaNode, i) =>
      member(
        keyword === 'prefixItems'
          ? String(i + 1)
          : optionName(api, schema, node),
        node,
      ),
    );
  }
  if (!label.includes('*'))
    return isEmpty(value) ? [] : [member('', value as SchemaNode)];
  return Object.entries(value).map(([name, node]) =>
    member(name, node as SchemaNode),
  );
}

const isEmpty = (value: object): boolean => Object.keys(value).length === 0;

/** Its title or type, with the value of the discriminator that selects it. */
function optionName(
  api: Api,
  { discriminator }: Schema,
  node: SchemaNode,
): string {
  const name = api.schema(node).title ?? typeText(api, node);
  if (discriminator === undefined || typeof node !== 'object') return name;
  const { propertyName, mapping = {} } = discriminator;
  const values = Object.entries(mapping).filter(
    ([, target]) => target === node.$ref || target === nameOf(node),
  );
  const value = values.map(([value]) => value).join(', ') || nameOf(node);
  return value === undefined ? name : `${name} (${propertyName}: ${value})`;
}

/** OpenAPI 3.0 has a format for files, later versions a media type. */
export const isBinary = ({
  format,
  contentMediaType,
  contentEncoding,
}: Schema): boolean =>
  format === 'binary' ||
  (contentMediaType !== undefined && contentEncoding === undefined);
