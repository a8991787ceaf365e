/** The keywords of JSON Schema and OpenAPI 3.0 that the described files use. */
export interface Schema {
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly type?: string | readonly string[];
  readonly nullable?: boolean;
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly 'x-unit'?: string;
  readonly 'x-env'?: string | readonly string[];
  readonly 'x-between'?: readonly [string, string];
}

export interface Direction {
  /** Others write the value: a new required member is an error for them. Otherwise they read it. */
  readonly isInput: boolean;
  readonly find: (ref: string) => Schema;
  /**
   * Takes the target of a reference, which is then a line of its own. By default it is described in
   * place.
   */
  readonly refer?: (ref: string) => string;
}

export function line(name: string, notes: readonly (string | false)[]): string {
  const text = notes.filter(Boolean).join(', ');
  return text === '' ? name : `${name}: ${text}`;
}

/** A line for each value, member and entry that `given` allows at `at`. */
export function* shapeOf(
  at: string,
  given: Schema,
  way: Direction,
  isAlways = false,
): Generator<string> {
  const always = !way.isInput && isAlways && 'always';
  if (given.$ref !== undefined && way.refer !== undefined) {
    yield line(at, [way.refer(given.$ref), always]);
    return;
  }
  const schema = merged(given, way);
  const { properties = {}, required = [], items, additionalProperties: entries } = schema;
  yield line(at, [typeOf(schema), always, ...(way.isInput ? rulesOf(schema) : [])]);
  for (const value of schema.enum ?? []) yield `${at} = ${value}`;
  for (const [name, member] of Object.entries(properties))
    yield* shapeOf(`${at}.${name}`, member, way, required.includes(name));
  if (items !== undefined) yield* shapeOf(`${at}[]`, items, way);
  if (typeof entries === 'object') yield* shapeOf(`${at}.<name>`, entries, way);
}

function merged({ $ref, allOf = [], ...own }: Schema, way: Direction): Schema {
  const parts = [...($ref === undefined ? [] : [way.find($ref)]), ...allOf].map((part) =>
    merged(part, way),
  );
  const all = [...parts, own];
  return Object.assign({}, ...all, {
    properties: Object.assign({}, ...all.map(({ properties }) => properties)),
    required: all.flatMap(({ required = [] }) => required),
  });
}

function typeOf({ type = [], nullable, format, 'x-unit': unit }: Schema): string {
  const types = [[type].flat().join('|'), format, unit !== format && unit, nullable && 'nullable'];
  return types.filter(Boolean).join(' ') || 'any value';
}

function rulesOf(schema: Schema): (string | false)[] {
  const {
    default: initial,
    minimum,
    maximum,
    required = [],
    oneOf,
    'x-env': variables = [],
  } = schema;
  const [least, most] = schema['x-between'] ?? [minimum, maximum];
  return [
    (least !== undefined || most !== undefined) && `${least ?? ''}..${most ?? ''}`,
    required.length > 0 && `needs ${required.join(' ')}`,
    oneOf !== undefined && `one of ${JSON.stringify(oneOf)}`,
    initial !== undefined && `default ${JSON.stringify(initial)}`,
    variables.length > 0 && `variable ${[variables].flat().join(' ')}`,
  ];
}
