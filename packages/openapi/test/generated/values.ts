import { isObject, type Json, listOf, type OpenApi } from './document.ts';
import { numberOf, textOf } from './leaves.ts';
import type { Opinion } from './opinion.ts';
import type { Random } from './random.ts';

/** This proves nothing about the schema. */
export class Impossible extends Error {}

const DEEPEST = 9;
const TRIES = 60;

export class Values {
  readonly #document: OpenApi;
  readonly #opinion: Opinion;
  readonly #random: Random;
  /** The share of optional members that are sent. */
  #fullness = 0.5;

  constructor(document: OpenApi, opinion: Opinion, random: Random) {
    this.#document = document;
    this.#opinion = opinion;
    this.#random = random;
  }

  make(schema: Json, isFit: (value: unknown) => boolean = () => true): unknown {
    for (let i = 0; i < TRIES; i++) {
      this.#fullness = Math.max(0, 0.6 - i / 50);
      try {
        // Removes members that are undefined.
        const value: unknown = JSON.parse(JSON.stringify(this.#value(schema, 0)) ?? 'null');
        if (isFit(value) && this.#opinion.accepts(schema, value)) return value;
      } catch (error) {
        if (!(error instanceof Impossible)) throw error;
      }
    }
    throw new Impossible();
  }

  #value(schema: Json, depth: number, via: readonly string[] = []): unknown {
    if (depth > DEEPEST) throw new Impossible();
    const self = typeof schema.$ref === 'string' ? schema.$ref : undefined;
    const node = this.#merged(schema, self ? [...via, self] : via);
    if (node.nullable === true && node.type !== undefined && this.#random.chance(0.1)) return null;
    if ('const' in node && this.#document.isModern) return node.const;
    if (Array.isArray(node.enum)) {
      if (node.enum.length === 0) throw new Impossible();
      return this.#random.of(node.enum);
    }
    const type = this.#typeOf(node);
    switch (type) {
      case 'null':
        return null;
      case 'object':
        return this.#object(node, depth);
      case 'array':
        return this.#list(node, depth);
      case 'boolean':
        return this.#random.chance(0.5);
      case 'integer':
      case 'number':
        return numberOf({ ...node, type }, this.#random);
      case 'string':
        return textOf(node, this.#random, () => new Impossible());
      default:
        return this.#random.of<unknown>(['text', 7, true, { a: 1 }, []]);
    }
  }

  #typeOf(node: Json): unknown {
    if (!Array.isArray(node.type)) return node.type ?? implied(node);
    if (node.type.length === 0) throw new Impossible();
    return this.#random.of(node.type);
  }

  /** With those of `allOf`, and of one alternative. */
  #merged(schema: Json, via: readonly string[]): Record<string, unknown> {
    if (via.length > DEEPEST * 4) throw new Impossible();
    const isBeside =
      this.#document.isModern && typeof schema.$ref === 'string' && Object.keys(schema).length > 1;
    const node = isBeside ? schema : this.#document.follow(schema);
    const { allOf, oneOf, anyOf, discriminator, ...own } = node;
    const merged: Record<string, unknown> = {};
    // In OpenAPI 3.1 a reference is a keyword like all others.
    if (typeof node.$ref === 'string') join(merged, this.#merged({ $ref: node.$ref }, via));
    for (const part of listOf(allOf) as Json[])
      join(merged, this.#merged(part, [...via, String(part.$ref)]));
    join(merged, own);
    for (const alternatives of [oneOf, anyOf]) {
      if (!Array.isArray(alternatives) || alternatives.length === 0) continue;
      const chosen = this.#random.of(alternatives) as Json;
      join(merged, this.#merged(chosen, [...via, String(chosen.$ref)]));
      if (isObject(discriminator)) this.#tag(merged, discriminator, chosen.$ref);
    }
    if (isObject(discriminator) && oneOf === undefined && anyOf === undefined)
      this.#become(merged, discriminator, via);
    return merged;
  }

  /** A schema with a discriminator becomes one of those that refer to it. */
  #become(merged: Record<string, unknown>, discriminator: Json, via: readonly string[]): void {
    const targets = Object.values(isObject(discriminator.mapping) ? discriminator.mapping : {});
    const isBase = via.length < 2 && targets.length > 0 && !targets.includes(via[0]);
    const chosen = isBase ? String(this.#random.of(targets)) : via[0];
    if (isBase) join(merged, this.#merged({ $ref: chosen }, [chosen!, 'the base']));
    else this.#tag(merged, discriminator, chosen);
  }

  /** A value that the component lists, or its mapping, or its name. */
  #tag(merged: Record<string, unknown>, { propertyName, mapping }: Json, reference: unknown): void {
    if (typeof propertyName !== 'string') return;
    join(merged, { required: [propertyName] });
    if (
      typeof reference !== 'string' ||
      this.#isListed((merged.properties as Json | undefined)?.[propertyName])
    )
      return;
    const name = reference.slice(reference.lastIndexOf('/') + 1);
    const entries = Object.entries(isObject(mapping) ? mapping : {});
    const value =
      entries.find(([, target]) => target === reference || target === name)?.[0] ?? name;
    join(merged, { properties: { [propertyName]: { enum: [value] } } });
  }

  #isListed(schema: unknown): boolean {
    const node = this.#document.follow(schema);
    return (
      Array.isArray(node.enum) ||
      'const' in node ||
      listOf(node.allOf).some((part) => this.#isListed(part))
    );
  }

  #object(node: Json, depth: number): Json {
    const properties = isObject(node.properties) ? node.properties : {};
    const required = new Set(listOf(node.required));
    const object: Record<string, unknown> = {};
    for (const [name, schema] of Object.entries(properties)) {
      if (name === '__proto__' || this.#document.isReadOnly(schema)) continue;
      if (required.has(name) || this.#random.chance(this.#fullness / (depth + 1)))
        object[name] = this.#other(schema, depth);
    }
    const others = node.additionalProperties ?? node.unevaluatedProperties ?? true;
    const missing = [...required].filter(
      (name) => !(String(name) in object) && !(String(name) in properties),
    );
    for (const name of missing) object[String(name)] = this.#other(others, depth);
    const least = typeof node.minProperties === 'number' ? node.minProperties : 0;
    const more = Math.max(least - Object.keys(object).length, this.#random.chance(0.1) ? 1 : 0);
    if (others !== false)
      for (let i = 0; i < more; i++) object[`x-more-${i}`] = this.#other(others, depth);
    return object;
  }

  #other(schema: unknown, depth: number): unknown {
    return isObject(schema) ? this.#value(schema, depth + 1) : 'more';
  }

  #list(node: Json, depth: number): unknown[] {
    const least = typeof node.minItems === 'number' ? node.minItems : 0;
    const most = Math.min(
      typeof node.maxItems === 'number' ? node.maxItems : 1_000,
      least + (depth > 3 ? 0 : 3),
    );
    const length = this.#random.integer(least, most);
    const first = listOf(node.prefixItems).map((part) => this.#other(part, depth));
    const list: unknown[] = first.slice(0, Math.max(length, first.length));
    for (let tries = 0; list.length < length && tries < length * 10; tries++) {
      if (node.items === false) break;
      const items = isObject(node.items)
        ? node.items
        : isObject(node.contains)
          ? node.contains
          : {};
      const entry = this.#value(items, depth + 1);
      const isTwice = list.some((other) => JSON.stringify(other) === JSON.stringify(entry));
      if (node.uniqueItems !== true || !isTwice) list.push(entry);
    }
    return list;
  }
}

function join(
  target: Record<string, unknown>,
  { properties, required, $ref, ...rest }: Json,
): void {
  if (isObject(properties)) {
    const before = (target.properties ?? {}) as Record<string, unknown>;
    const joined = Object.entries(properties).map(([name, part]) => [
      name,
      name in before ? { allOf: [before[name], part] } : part,
    ]);
    target.properties = { ...before, ...Object.fromEntries(joined) };
  }
  if (Array.isArray(required)) target.required = [...listOf(target.required), ...required];
  const { enum: existing, nullable } = target;
  const { type } = target;
  Object.assign(target, rest);
  if (type !== undefined && rest.type !== undefined) target.type = common(type, rest.type);
  if (Array.isArray(existing) && Array.isArray(rest.enum))
    target.enum = rest.enum.filter((one) => existing.includes(one));
  if (nullable === true && rest.nullable !== true) delete target.nullable;
}

function common(a: unknown, b: unknown): unknown {
  const [existing, more] = [[a].flat(), [b].flat()];
  if (existing.length === 1 && more.length === 1) return b;
  return more.filter(
    (type) => existing.includes(type) || (type === 'integer' && existing.includes('number')),
  );
}

function implied(node: Json): string | undefined {
  if (node.properties !== undefined || isObject(node.additionalProperties)) return 'object';
  if (node.items !== undefined || node.prefixItems !== undefined || node.contains !== undefined)
    return 'array';
  if (typeof node.exclusiveMinimum === 'number' || typeof node.exclusiveMaximum === 'number')
    return 'number';
  return node.pattern !== undefined || node.minLength !== undefined ? 'string' : undefined;
}
