import { Ajv, type ValidateFunction } from 'ajv';
import ajvFormats from 'ajv-formats';
import { isObject, type Json, listOf, type OpenApi } from './document.ts';

const KEPT = [
  'enum',
  'pattern',
  'format',
  'minLength',
  'maxLength',
  'multipleOf',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
] as const;

/**
 * A second opinion on generated values: plain ajv with the schemas of a document, of which only the spelling is changed from that
 * of OpenAPI 3.0 to that of JSON Schema. What it refuses is not sent.
 */
export class Opinion {
  readonly #document: OpenApi;
  readonly #ajv = new Ajv({ strict: false, logger: false, validateSchema: false, code: { regExp: regExp } });
  readonly #compiled = new Map<Json, ValidateFunction>();
  readonly #names = new Map<string, string>();

  constructor(document: OpenApi) {
    this.#document = document;
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

  #schema(node: Json, unsent: readonly unknown[]): Json {
    if (typeof node.$ref === 'string') return { $ref: this.#named(node.$ref) };
    const hidden = [...unsent, ...this.readOnlyIn(node)];
    const all = (value: unknown) => listOf(value).map((part) => this.#schema(part as Json, hidden));
    const made: Record<string, unknown> = {};
    for (const keyword of KEPT) if (node[keyword] !== undefined) made[keyword] = node[keyword];
    if (node.type !== undefined) made.type = node.nullable === true ? [node.type, 'null'] : node.type;
    this.#limits(node, made);
    const required = listOf(node.required).filter((name) => !hidden.includes(name));
    if (required.length > 0) made.required = required;
    if (isObject(node.properties))
      made.properties = Object.fromEntries(
        Object.entries(node.properties).map(([name, part]) => [name, this.#schema(part as Json, [])]),
      );
    for (const keyword of ['items', 'not', 'additionalProperties'] as const) {
      const part = node[keyword];
      if (part !== undefined) made[keyword] = isObject(part) ? this.#schema(part, []) : part;
    }
    for (const keyword of ['allOf', 'oneOf', 'anyOf'] as const) {
      if (node[keyword] !== undefined) made[keyword] = all(node[keyword]);
    }
    return made;
  }

  #limits(node: Json, made: Record<string, unknown>): void {
    if (node.minimum !== undefined)
      made[node.exclusiveMinimum === true ? 'exclusiveMinimum' : 'minimum'] = node.minimum;
    if (node.maximum !== undefined)
      made[node.exclusiveMaximum === true ? 'exclusiveMaximum' : 'maximum'] = node.maximum;
  }

  /** Properties that requests do not have, so that `required` does not count for them (OpenAPI 3.0.3, `readOnly`). */
  readOnlyIn(node: Json, seen = new Set<Json>()): string[] {
    const own = this.#document.follow(node);
    if (seen.has(own)) return [];
    seen.add(own);
    const names = Object.entries(isObject(own.properties) ? own.properties : {});
    const inner = listOf(own.allOf).flatMap((part) => this.readOnlyIn(part as Json, seen));
    return [...names.filter(([, part]) => this.#document.isReadOnly(part)).map(([name]) => name), ...inner];
  }

  #named(reference: string): string {
    let name = this.#names.get(reference);
    if (name === undefined) {
      name = `schema:${this.#names.size}`;
      this.#names.set(reference, name);
      this.#ajv.addSchema({ ...this.#schema(this.#document.at(reference) as Json, []), $id: name });
    }
    return name;
  }
}

/** Patterns are read as those of ECMA-262 with the flag `u`, and without it where they are no such pattern. */
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
