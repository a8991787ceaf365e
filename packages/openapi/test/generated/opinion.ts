import { Ajv, type Options, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';
import { isObject, type Json, listOf, type OpenApi } from './document.ts';

const words = (text: string) => text.split(' ');
const KEPT = words(
  'pattern format minLength maxLength multipleOf minItems maxItems uniqueItems minProperties maxProperties',
);
const MODERN = words(
  'const exclusiveMinimum exclusiveMaximum minContains maxContains dependentRequired',
);
const SCHEMAS = ['items', 'not', 'additionalProperties'];
const MODERN_SCHEMAS = [
  ...SCHEMAS,
  ...words('contains propertyNames if then else unevaluatedItems unevaluatedProperties'),
];
const MAPS = ['patternProperties', 'dependentSchemas'] as const;
const OPTIONS: Options = { strict: false, logger: false, validateSchema: false };

/** A second check by plain ajv. Values that it refuses are not sent. */
export class Opinion {
  readonly #document: OpenApi;
  readonly #ajv: Ajv;
  readonly #compiled = new Map<Json, ValidateFunction>();
  readonly #names = new Map<string, string>();

  constructor(document: OpenApi) {
    this.#document = document;
    const options = { ...OPTIONS, code: { regExp } };
    this.#ajv = document.isModern ? (new Ajv2020(options) as unknown as Ajv) : new Ajv(options);
    (ajvFormats as unknown as (ajv: Ajv) => void)(this.#ajv);
  }

  accepts(schema: Json, value: unknown): boolean {
    let validate = this.#compiled.get(schema);
    if (!validate) {
      validate = this.#ajv.compile(this.#schema(schema, []));
      this.#compiled.set(schema, validate);
    }
    return validate(value) as boolean;
  }

  /** `true` and `false` are schemas too. */
  #part(part: unknown, unsent: readonly unknown[] = []): unknown {
    return isObject(part) ? this.#schema(part, unsent) : part;
  }

  #schema(node: Json, unsent: readonly unknown[]): Json {
    const { isModern } = this.#document;
    const reference = typeof node.$ref === 'string' ? { $ref: this.#named(node.$ref) } : null;
    if (reference && !isModern) return reference;
    const hidden = [...unsent, ...this.readOnlyIn(node)];
    const all = (value: unknown) => listOf(value).map((part) => this.#part(part, hidden));
    const map = (value: Json) =>
      Object.fromEntries(Object.entries(value).map(([name, part]) => [name, this.#part(part)]));
    const made: Record<string, unknown> = { ...reference };
    for (const keyword of isModern ? [...KEPT, ...MODERN] : KEPT)
      if (node[keyword] !== undefined) made[keyword] = node[keyword];
    // Ajv does not accept an empty list, which matches nothing.
    if (Array.isArray(node.enum))
      Object.assign(made, node.enum.length > 0 ? { enum: node.enum } : { type: [] });
    if (node.type !== undefined)
      made.type = node.nullable === true && !isModern ? [node.type, 'null'] : node.type;
    this.#limits(node, made);
    const required = listOf(node.required).filter((name) => !hidden.includes(name));
    if (required.length > 0) made.required = required;
    if (isObject(node.properties)) made.properties = map(node.properties);
    for (const keyword of isModern ? MODERN_SCHEMAS : SCHEMAS) {
      if (node[keyword] !== undefined) made[keyword] = this.#part(node[keyword]);
    }
    for (const keyword of isModern ? MAPS : []) {
      const parts = node[keyword];
      if (isObject(parts)) made[keyword] = map(parts);
    }
    for (const keyword of [
      'allOf',
      'oneOf',
      'anyOf',
      ...(isModern ? ['prefixItems'] : []),
    ] as const) {
      if (node[keyword] !== undefined) made[keyword] = all(node[keyword]);
    }
    return made;
  }

  #limits(node: Json, made: Record<string, unknown>): void {
    if (this.#document.isModern) {
      for (const keyword of ['minimum', 'maximum'])
        if (node[keyword] !== undefined) made[keyword] = node[keyword];
      return;
    }
    if (node.minimum !== undefined)
      made[node.exclusiveMinimum === true ? 'exclusiveMinimum' : 'minimum'] = node.minimum;
    if (node.maximum !== undefined)
      made[node.exclusiveMaximum === true ? 'exclusiveMaximum' : 'maximum'] = node.maximum;
  }

  /** `required` does not count for them (OpenAPI 3.0.3, `readOnly`). */
  readOnlyIn(node: Json, seen = new Set<Json>()): string[] {
    const own = this.#document.follow(node);
    if (seen.has(own)) return [];
    seen.add(own);
    const names = Object.entries(isObject(own.properties) ? own.properties : {});
    const inner = listOf(own.allOf).flatMap((part) => this.readOnlyIn(part as Json, seen));
    return [
      ...names.filter(([, part]) => this.#document.isReadOnly(part)).map(([name]) => name),
      ...inner,
    ];
  }

  #named(reference: string): string {
    let name = this.#names.get(reference);
    if (name === undefined) {
      name = `schema:${this.#names.size}`;
      this.#names.set(reference, name);
      const target = this.#document.at(reference);
      this.#ajv.addSchema({
        ...(target === false ? { not: {} } : isObject(target) ? this.#schema(target, []) : {}),
        $id: name,
      });
    }
    return name;
  }
}

/** Without the flag `u` if the pattern is not valid with it. */
const regExp = Object.assign(
  (pattern: string, _flags: string) => {
    try {
      return new RegExp(pattern, 'u');
    } catch {
      return new RegExp(pattern);
    }
  },
  { code: 'new RegExp' },
);
