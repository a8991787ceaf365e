import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

export type Json = { readonly [name: string]: unknown };

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header' | 'cookie';
  readonly required: boolean;
  readonly style: string;
  readonly explode: boolean;
  readonly schema: Json;
  /** `content` in place of `schema`. */
  readonly document: boolean;
}

export interface Described {
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly Parameter[];
  readonly body: { readonly required: boolean; readonly content: Json } | null;
}

const METHODS = ['get', 'put', 'post', 'delete', 'patch', 'options', 'head'];
const DEFAULT_STYLES = { path: 'simple', query: 'form', header: 'simple', cookie: 'form' } as const;
/** OpenAPI ignores these parameters. */
const IGNORED = new Set(['accept', 'content-type', 'authorization']);

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * An independent reader of documents: with the code under test, the requests would prove nothing.
 */
export class OpenApi {
  readonly root: Json;
  /** JSON Schema 2020-12 instead of OpenAPI 3.0. */
  readonly isModern: boolean;

  constructor(file: string) {
    const text = readFileSync(file, 'utf8');
    this.root = file.endsWith('.json') ? JSON.parse(text) : parse(text);
    this.isModern = !String(this.root.openapi).startsWith('3.0');
  }

  follow(value: unknown): Json {
    let node = value;
    for (let i = 0; isObject(node) && typeof node.$ref === 'string' && i < 50; i++)
      node = this.at(node.$ref);
    return isObject(node) ? node : {};
  }

  isReadOnly(schema: unknown): boolean {
    const node = this.follow(schema);
    return node.readOnly === true || listOf(node.allOf).some((part) => this.isReadOnly(part));
  }

  at(reference: string): unknown {
    const names = decodeURIComponent(reference.replace(/^#\//, '')).split('/');
    return names.reduce<unknown>(
      (node, name) =>
        (node as Json | undefined)?.[name.replaceAll('~1', '/').replaceAll('~0', '~')],
      this.root,
    );
  }

  *operations(): Generator<Described> {
    for (const [path, reference] of Object.entries(
      isObject(this.root.paths) ? this.root.paths : {},
    )) {
      const item = this.follow(reference);
      for (const method of METHODS) {
        if (isObject(item[method]))
          yield this.#operation(method.toUpperCase(), path, item[method], item);
      }
    }
  }

  #operation(method: string, path: string, operation: Json, item: Json): Described {
    const parameters = new Map<string, Parameter>();
    for (const reference of [...listOf(item.parameters), ...listOf(operation.parameters)]) {
      const parameter = this.#parameter(this.follow(reference));
      if (!(parameter.in === 'header' && IGNORED.has(parameter.name.toLowerCase())))
        parameters.set(`${parameter.in} ${parameter.name}`, parameter);
    }
    const body = this.follow(operation.requestBody);
    const content = isObject(body.content) && method !== 'HEAD' ? body.content : null;
    return {
      method,
      path,
      parameters: [...parameters.values()],
      body: content && { required: body.required === true, content },
    };
  }

  #parameter(node: Json): Parameter {
    const place = node.in as Parameter['in'];
    const style = typeof node.style === 'string' ? node.style : DEFAULT_STYLES[place];
    const media = isObject(node.content) ? this.follow(Object.values(node.content)[0]) : null;
    const schema = media ? media.schema : node.schema;
    return {
      name: String(node.name),
      in: place,
      required: node.required === true,
      style,
      explode:
        typeof node.explode === 'boolean'
          ? node.explode
          : style === 'form' || style === 'deepObject',
      schema: isObject(schema) ? schema : {},
      document: media !== null,
    };
  }
}

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
