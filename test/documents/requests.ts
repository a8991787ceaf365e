import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Contract, Operation } from '../../src/config/contract/contract.ts';
import { escapeToken, isObject, type Json, PlainSchemas } from './json-schema.ts';

export interface Judgement {
  /** One for each operation whose parameters and body could be made. */
  readonly requests: number;
  readonly withoutRequest: number;
  /** Bodies that were judged by both. */
  readonly bodies: number;
  /** One line each. */
  readonly differences: readonly string[];
}

type Sample = (schema: Json, options: object, document: Json) => unknown;

/** Of one document, at most. */
const BODIES = 1_000;
const DIFFERENCES = 20;

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i;

/**
 * Makes a request for each operation and variants of JSON bodies, and compares what the contract
 * and plain ajv say.
 */
export function judgeRequests(contract: Contract, tools: string): Judgement {
  const { resolve } = createRequire(join(tools, 'package.json'));
  const { sample } = createRequire(import.meta.url)(resolve('openapi-sampler'));
  return new Judge(contract, sample).judge();
}

class Judge {
  readonly #contract: Contract;
  readonly #sample: Sample;
  readonly #schemas: PlainSchemas;
  readonly #differences: string[] = [];
  #bodies = 0;

  constructor(contract: Contract, sample: Sample) {
    this.#contract = contract;
    this.#sample = sample;
    this.#schemas = new PlainSchemas(contract.document as Json);
  }

  judge(): Judgement {
    let requests = 0;
    const { operations } = this.#contract;
    for (const operation of operations) {
      const request = this.#requestOf(operation);
      if (request === null) continue;
      requests++;
      const { status, faults } = this.#contract.validateRequest(request);
      if (status !== 200)
        this.#differ(operation, `${request.method} ${request.url} is refused`, [status, faults[0]]);
    }
    const differences = this.#differences.slice(0, DIFFERENCES);
    const withoutRequest = operations.length - requests;
    return { requests, withoutRequest, bodies: this.#bodies, differences };
  }

  /** `null` if no request that ajv accepts could be made. */
  #requestOf(operation: Operation) {
    const { item, node, pointer } = this.#nodeOf(operation);
    const url = new RequestText(this.#contract.prefixes[0]! + operation.path);
    for (const { parameter, at } of this.#parametersOf(item, node, pointer)) {
      if (isIgnored(parameter)) continue;
      const text = this.#textOf(parameter, at);
      const isNeeded = parameter.required === true;
      if (text === null && isNeeded) return null;
      if (text !== null && (isNeeded || parameter.in === 'query')) url.add(parameter, text);
    }
    if (!url.isComplete) return null;
    const request = { method: operation.method, url: url.target, headers: url.headers };
    if (!operation.body) return request;
    const body = this.#bodyOf(operation, node, `${pointer}/requestBody`);
    if (body !== null) return { ...request, ...withBody(request.headers, body) };
    return operation.body.required ? null : request;
  }

  #nodeOf({ path, method }: Operation) {
    const { paths } = this.#contract.document as { paths: Json };
    const place = this.#schemas.follow(paths[path], `/paths/${escapeToken(path)}`);
    const node = place.node[method.toLowerCase()] as Json;
    return { item: place, node, pointer: `${place.pointer}/${method.toLowerCase()}` };
  }

  #parametersOf(item: { node: Json; pointer: string }, node: Json, pointer: string) {
    const found = new Map<string, { parameter: Json; at: string }>();
    for (const [holder, base] of [
      [item.node, item.pointer],
      [node, pointer],
    ] as const) {
      if (!Array.isArray(holder.parameters)) continue;
      for (const [i, one] of holder.parameters.entries()) {
        const { node: parameter, pointer: at } = this.#schemas.follow(
          one,
          `${base}/parameters/${i}`,
        );
        found.set(`${parameter.in} ${parameter.name}`, { parameter, at });
      }
    }
    return found.values();
  }

  /** Of a plain value in the usual style. */
  #textOf(parameter: Json, at: string): string | null {
    const { style, schema } = parameter;
    const usual = parameter.in === 'query' || parameter.in === 'cookie' ? 'form' : 'simple';
    if (!isObject(schema) || (style ?? usual) !== usual) return null;
    const place = this.#schemas.follow(schema, `${at}/schema`);
    const value = this.#valueFor(place.node);
    if (value === null || typeof value === 'object' || value === '') return null;
    // Other characters are separators of paths, or must be encoded in headers.
    if (parameter.in === 'query' ? !isPrintable(value) : !isPlain(value)) return null;
    return this.#schemas.judge(place.pointer, value) === 'fits' ? String(value) : null;
  }

  #valueFor(schema: Json): unknown {
    try {
      const options = { skipReadOnly: true, quiet: true, maxSampleDepth: 8 };
      return this.#sample(schema, options, this.#contract.document as Json) ?? null;
    } catch {
      // The sampler gives up on schemas that contain themselves.
      return null;
    }
  }

  /** Of a type of JSON, and compares variants of it. */
  #bodyOf(operation: Operation, node: Json, at: string): { type: string; text: string } | null {
    const body = this.#schemas.follow(node.requestBody, at);
    const content = isObject(body.node.content) ? body.node.content : {};
    const type = Object.keys(content).find((name) => JSON_TYPE.test(name));
    if (type === undefined) return null;
    const media = this.#schemas.follow(
      content[type],
      `${body.pointer}/content/${escapeToken(type)}`,
    );
    if (!isObject(media.node.schema)) return null;
    const place = this.#schemas.follow(media.node.schema, `${media.pointer}/schema`);
    const value = this.#valueFor(place.node);
    if (value === null) return null;
    if (this.#bodies < BODIES)
      for (const variant of variantsOf(value))
        this.#compare(operation, type, place.pointer, variant);
    const fits = this.#schemas.judge(place.pointer, value) === 'fits';
    return fits ? { type, text: JSON.stringify(value) } : null;
  }

  #compare(operation: Operation, type: string, pointer: string, value: unknown): void {
    const text = JSON.stringify(value);
    const faults = operation.body!.media(type)!.check(new TextEncoder().encode(text));
    const opinion = this.#schemas.judge(pointer, JSON.parse(text));
    this.#bodies++;
    if (opinion === 'fits' && faults.length > 0)
      this.#differ(operation, `refuses ${text}`, faults[0]);
    if (opinion === 'violates' && faults.length === 0)
      this.#differ(operation, `accepts ${text}`, null);
  }

  #differ({ id }: Operation, what: string, fault: unknown): void {
    const reason = fault === null ? '' : `: ${JSON.stringify(fault)}`;
    this.#differences.push(`${id} ${what.slice(0, 300)}${reason}`);
  }
}

const isPrintable = (value: unknown): boolean => /^[ -~]+$/.test(String(value));

const isPlain = (value: unknown): boolean => /^[\w-]+$/.test(String(value));

/** OpenAPI 3.0.3, Parameter Object, `name`. */
const isIgnored = ({ in: place, name }: Json): boolean =>
  place === 'header' && /^(?:accept|content-type|authorization)$/i.test(String(name));

/** A target and headers, from a template. */
class RequestText {
  target: string;
  readonly headers: Record<string, string> = {};

  constructor(template: string) {
    this.target = template;
  }

  add(parameter: Json, text: string): void {
    const name = String(parameter.name);
    if (parameter.in === 'path')
      this.target = this.target.replace(`{${name}}`, encodeURIComponent(text));
    if (parameter.in === 'query') {
      const mark = this.target.includes('?') ? '&' : '?';
      this.target += `${mark}${encodeURIComponent(name)}=${encodeURIComponent(text)}`;
    }
    if (parameter.in === 'header') this.headers[name] = text.trim();
    if (parameter.in === 'cookie') this.headers.cookie = `${name}=${encodeURIComponent(text)}`;
  }

  get isComplete(): boolean {
    return !/[{}]/.test(this.target);
  }
}

const withBody = (headers: object, { type, text }: { type: string; text: string }) => ({
  headers: { ...headers, 'content-type': type },
  body: text,
});

const OTHERS = [null, [], {}, 'text', 1.5];

/** The value itself, and such as are likely to be wrong in one place. */
function* variantsOf(value: unknown): Generator<unknown> {
  yield value;
  yield* OTHERS;
  if (Array.isArray(value)) {
    yield [...value, ...value];
    for (const inner of isObject(value[0]) ? membersChanged(value[0], 1) : [null]) yield [inner];
  }
  if (isObject(value)) {
    yield* membersChanged(value, 2);
    yield { ...value, 'no such member': 1 };
  }
}

/** In characters: longer than most limits. */
const LONG = 'x'.repeat(300);

function* membersChanged(value: Json, depth: number): Generator<Json> {
  for (const [name, member] of Object.entries(value).slice(0, 12)) {
    const { [name]: _, ...others } = value;
    yield others;
    const wrong = typeof member === 'string' ? [7, '', LONG] : ['text', -1, 1e12];
    for (const other of [null, {}, [member], ...wrong]) yield { ...value, [name]: other };
    if (isObject(member) && depth > 1)
      for (const inner of membersChanged(member, depth - 1)) yield { ...value, [name]: inner };
  }
}
