import fc from 'fast-check';

type Json = Record<string, unknown>;

const NAMES = ['a', 'b', 'name', 'constructor', 'toString', 'a/b', 'a~b', ''] as const;
/** `NAMES`, and one name that no contract may have. */
const SENT = [...NAMES, '__proto__'] as const;

const small = fc.integer({ min: -3, max: 3 });
const length = fc.integer({ min: 0, max: 3 });
const text = fc.constantFrom('', 'a', 'ab', 'abc', 'x', '12', 'true', 'null', '🐈', 'ä', ' ');
const number = fc.oneof(small, fc.constantFrom(0.5, -0.5, 1.5, 1e3, -0, 10, 9007199254740991));

const some = <T extends Json>(members: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc.record(members, { requiredKeys: [] }) as fc.Arbitrary<Json>;

const members = (schema: fc.Arbitrary<Json>) =>
  fc
    .uniqueArray(fc.tuple(fc.constantFrom(...NAMES), schema), {
      maxLength: 3,
      selector: ([name]) => name,
    })
    .map((entries) => Object.fromEntries(entries));

const types = {
  string: some({
    minLength: length,
    maxLength: length,
    pattern: fc.constantFrom('^a', 'b$', '^[a-c]*$', '^\\d+$', '.'),
    enum: fc.uniqueArray(text, { minLength: 1, maxLength: 3 }),
  }),
  integer: some({
    minimum: small,
    maximum: small,
    exclusiveMinimum: fc.boolean(),
    multipleOf: fc.constantFrom(1, 2, 3),
  }),
  number: some({
    minimum: number,
    maximum: number,
    exclusiveMaximum: fc.boolean(),
    multipleOf: fc.constantFrom(0.5, 1, 2),
  }),
  boolean: fc.constant({} as Json),
};

/** Schema Objects of OpenAPI 3.0, of every type and a few levels. */
export const schema: fc.Arbitrary<Json> = fc.letrec<{
  schema: Json;
  leaf: Json;
  array: Json;
  object: Json;
  mix: Json;
}>((tie) => ({
  leaf: fc.oneof(
    ...Object.entries(types).map(([type, rest]) =>
      rest.map((keywords): Json => ({ type, ...keywords })),
    ),
    fc.constant<Json>({}),
  ),
  array: some({ minItems: length, maxItems: length, uniqueItems: fc.boolean() }).chain((rest) =>
    tie('schema').map((items): Json => ({ type: 'array', items, ...rest })),
  ),
  object: fc
    .record({
      properties: members(tie('schema')),
      required: fc.uniqueArray(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 2 }),
      rest: some({
        minProperties: length,
        maxProperties: length,
        additionalProperties: fc.oneof(fc.boolean(), tie('schema')),
      }),
      demands: fc.boolean(),
    })
    .map(
      ({ properties, required, rest, demands }): Json => ({
        type: 'object',
        properties,
        ...(demands ? { required } : {}),
        ...rest,
      }),
    ),
  mix: fc
    .tuple(
      fc.constantFrom('allOf', 'anyOf', 'oneOf'),
      fc.array(tie('schema'), { minLength: 1, maxLength: 3 }),
    )
    .map(([keyword, schemas]): Json => ({ [keyword]: schemas })),
  schema: fc.oneof(
    { depthSize: 'xsmall', maxDepth: 3 },
    tie('leaf'),
    tie('object'),
    tie('array'),
    tie('mix'),
    tie('schema').map((inner): Json => ({ not: inner })),
    fc
      .tuple(tie('leaf'), fc.boolean())
      .map(([inner, nullable]): Json => ('type' in inner ? { ...inner, nullable } : inner)),
  ),
})).schema;

const anything: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'xsmall', maxDepth: 3 },
    fc.oneof(text, number, fc.boolean(), fc.constant(null)),
    fc.array(tie('value'), { maxLength: 3 }),
    fc
      .array(fc.tuple(fc.constantFrom(...SENT), tie('value')), { maxLength: 3 })
      .map((entries) => Object.fromEntries(entries)),
  ),
})).value!;

/** Values close to `schema`: often valid, often wrong in only one place. */
export function valueFor(schema: Json): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 4, arbitrary: fitting(schema) }, { weight: 1, arbitrary: anything });
}

function fitting(schema: Json): fc.Arbitrary<unknown> {
  for (const keyword of ['allOf', 'anyOf', 'oneOf']) {
    const schemas = schema[keyword] as Json[] | undefined;
    if (schemas) return fc.oneof(...schemas.map(valueFor));
  }
  if (schema.nullable === true)
    return fc.oneof(fc.constant(null), fitting({ ...schema, nullable: false }));
  if (Array.isArray(schema.enum)) return fc.oneof(fc.constantFrom(...schema.enum), text);
  switch (schema.type) {
    case 'string':
      return text;
    case 'integer':
      return fc.oneof({ weight: 3, arbitrary: small }, number);
    case 'number':
      return number;
    case 'boolean':
      return fc.boolean();
    case 'array':
      return fc.array(valueFor(schema.items as Json), { maxLength: 4 });
    case 'object':
      return fittingObject(schema);
    default:
      return anything;
  }
}

function fittingObject({ properties, required = [] }: Json): fc.Arbitrary<unknown> {
  const described = Object.entries(properties as Json);
  const named = described.map(([name, schema]) =>
    fc.option(fc.tuple(fc.constant(name), valueFor(schema as Json)), { freq: 5 }),
  );
  const others = (required as string[])
    .filter((name) => !Object.hasOwn(properties as Json, name))
    .map((name) => fc.option(fc.tuple(fc.constant(name), anything), { freq: 5 }));
  const more = fc.option(fc.tuple(fc.constantFrom(...SENT), anything), { freq: 1 });
  return fc
    .tuple(...named, ...others, more)
    .map((entries) =>
      Object.fromEntries(
        (entries as ([string, unknown] | null)[]).filter((entry) => entry !== null),
      ),
    );
}

/** The same schema in draft 7: `nullable` and exclusive limits differ. */
export function asJsonSchema(schema: Json): Json {
  const { nullable, exclusiveMinimum, exclusiveMaximum, ...rest } = schema;
  const plain: Json = { ...rest };
  if (exclusiveMinimum === true && 'minimum' in plain) plain.exclusiveMinimum = plain.minimum;
  if (exclusiveMaximum === true && 'maximum' in plain) plain.exclusiveMaximum = plain.maximum;
  for (const keyword of ['allOf', 'anyOf', 'oneOf']) {
    if (Array.isArray(plain[keyword]))
      plain[keyword] = (plain[keyword] as Json[]).map(asJsonSchema);
  }
  for (const keyword of ['not', 'items', 'additionalProperties']) {
    if (typeof plain[keyword] === 'object') plain[keyword] = asJsonSchema(plain[keyword] as Json);
  }
  if (plain.properties) {
    const entries = Object.entries(plain.properties as Json).map(([name, one]) => [
      name,
      asJsonSchema(one as Json),
    ]);
    plain.properties = Object.fromEntries(entries);
  }
  if (nullable === true) plain.type = [plain.type, 'null'];
  return plain;
}
