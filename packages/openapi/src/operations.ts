import type { Document } from './document/document.ts';
import { isObject, isReference, type Json, objectsIn } from './document/source.ts';
import { MAX_BODY_BYTES, readExtensions, replyHeaders, UNCHECKED_BODY } from './extensions.ts';
import type { Findings } from './findings.ts';
import { createContent, prepareContent } from './media/content.ts';
import { MediaRules } from './media/rules.ts';
import { createParameterCheck } from './parameters/checker.ts';
import { type Parameter, Parameters } from './parameters/parameter.ts';
import { type CheckResponse, createResponseCheck } from './responses.ts';
import type { Schemas } from './schema/schemas.ts';
import { namesIn } from './template.ts';
import type { BodyRule, Operation } from './types.ts';

const NAMES = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'] as const;

export const METHODS: ReadonlySet<unknown> = new Set(NAMES);

/** GET and DELETE are not among them: OpenAPI 3.0.3 ignores their `requestBody`, but some services read it. */
const WITHOUT_BODY = new Set(['head', 'trace']);

/** In lower case. */
export const methodsIn = (item: Json): string[] => NAMES.filter((name) => isObject(item[name]));

export type Description = Omit<Operation, keyof RequestChecks | 'checkResponse' | 'ready'>;

export type RequestChecks = Pick<Operation, 'checkParameters' | 'body'>;

interface Draft {
  readonly operation: Omit<Description, 'replyHeaders'>;
  readonly node: Json;
}

export class Operations {
  readonly #drafts = new Map<string, Draft>();
  readonly #document: Document;
  readonly #findings: Findings;
  readonly #parameters: Parameters;
  readonly #rules: MediaRules;

  constructor(document: Document, schemas: Schemas, findings: Findings) {
    this.#document = document;
    this.#findings = findings;
    this.#parameters = new Parameters(document, schemas, findings);
    this.#rules = new MediaRules(document, schemas, findings);
  }

  read(path: string, item: Json): void {
    for (const method of methodsIn(item)) this.#operation(path, method);
  }

  /** The document must have the operation. */
  requestChecks({
    path,
    method,
    uncheckedBody,
  }: Pick<Description, 'path' | 'method' | 'uncheckedBody'>): RequestChecks {
    const { item, node } = this.#find(path, method);
    const names = namesIn(path);
    const nodes = [...objectsIn(node.parameters), ...objectsIn(item.parameters)];
    const parameters = this.#readParameters(nodes, node, names);
    return {
      checkParameters: createParameterCheck(parameters, names, this.#document.reading.unknownQuery ?? 'refuse'),
      body: this.#body(method.toLowerCase(), node, uncheckedBody),
    };
  }

  *prepareRequestChecks({ path, method }: Description): Generator<void, void, void> {
    const { content } = this.#document.object(this.#find(path, method).node.requestBody) ?? {};
    if (isObject(content) && !WITHOUT_BODY.has(method.toLowerCase())) yield* prepareContent(content, this.#rules);
  }

  /** The document must have the operation. */
  responseCheck({ path, method }: Pick<Description, 'path' | 'method'>): CheckResponse {
    return createResponseCheck(this.#find(path, method).node, this.#document, this.#rules, this.#findings);
  }

  #find(path: string, method: string): { readonly item: Json; readonly node: Json } {
    const item = this.#document.object((this.#document.root.paths as Json)[path])!;
    return { item, node: item[method.toLowerCase()] as Json };
  }

  /** Call it after reading every path item. */
  finish(prefix: string): readonly (readonly [Description, Json])[] {
    return [...this.#drafts.values()].map(({ operation, node }) => {
      const { successor } = operation;
      const other = successor === null ? null : this.#drafts.get(successor);
      if (other === undefined) this.#findings.problem(node, 'x-successor', `the operation ${successor} does not exist`);
      const path = other ? prefix + other.operation.path : null;
      return [{ ...operation, replyHeaders: replyHeaders(operation, path) }, node] as const;
    });
  }

  #operation(path: string, method: string): void {
    const { node } = this.#find(path, method);
    const id = this.#id(path, method, node);
    const extensions = readExtensions(node, this.#findings);
    this.requestChecks({ path, method, uncheckedBody: extensions.uncheckedBody });
    if (extensions.maxBodyBytes !== null && (node.requestBody === undefined || WITHOUT_BODY.has(method))) {
      this.#findings.note(node, MAX_BODY_BYTES, 'has no effect: the operation takes no request body');
    }
    this.responseCheck({ path, method });
    const operation = {
      id,
      method: method.toUpperCase(),
      path,
      summary: typeof node.summary === 'string' ? node.summary : '',
      tags: Object.freeze(Array.isArray(node.tags) ? node.tags.filter((tag) => typeof tag === 'string') : []),
      deprecated: node.deprecated === true,
      ...extensions,
      exempt: null,
    };
    this.#drafts.set(id, { operation, node });
  }

  #id(path: string, method: string, node: Json): string {
    const { operationId } = node;
    const other = this.#drafts.get(operationId as string);
    if (typeof operationId === 'string' && operationId !== '' && !other) return operationId;
    let id = `${method} ${path}`;
    if (other) {
      this.#findings.problem(
        node,
        'operationId',
        `${operationId} is the operationId of ${other.operation.method} ${other.operation.path} too`,
      );
    } else this.#findings.note(node, null, `the operation has no operationId: it is called ${id}`);
    // Another operation may have this id on purpose.
    while (this.#drafts.has(id)) id += "'";
    return id;
  }

  /** Those of the operation override those of the path item. */
  #readParameters(nodes: readonly Json[], operation: Json, names: readonly string[]): Parameter[] {
    const own = objectsIn(operation.parameters).length;
    const seen = new Map<string, number>();
    const inPath = new Set<unknown>();
    const parameters: Parameter[] = [];
    for (const [i, reference] of nodes.entries()) {
      const node = this.#document.object(reference);
      if (!node) continue;
      const key = `${node.in} ${node.in === 'header' ? String(node.name).toLowerCase() : node.name}`;
      const before = seen.get(key);
      if (before !== undefined && before < own === i < own) {
        this.#findings.problem(reference, null, `the ${node.in} parameter ${node.name} is described twice`);
      }
      if (before !== undefined) continue;
      seen.set(key, i);
      if (node.in === 'path') inPath.add(node.name);
      if (node.in === 'path' && !names.includes(node.name as string)) {
        this.#findings.problem(reference, null, `the path has no {${node.name}}`);
      }
      const parameter = this.#parameters.read(node);
      if (parameter) parameters.push(parameter);
    }
    if (isReference(operation)) return parameters;
    for (const name of names) {
      if (!inPath.has(name)) this.#findings.problem(operation, null, `the path parameter {${name}} is not described`);
    }
    return parameters;
  }

  #body(method: string, operation: Json, uncheckedBody: boolean): BodyRule | null {
    if (operation.requestBody === undefined) return null;
    if (WITHOUT_BODY.has(method)) {
      this.#findings.note(
        operation,
        'requestBody',
        `the body of a ${method.toUpperCase()} request is ignored, as ${this.#document.dialect.name} says`,
      );
      return null;
    }
    const node = this.#document.object(operation.requestBody);
    if (!node) return null;
    if (!isObject(node.content) || Object.keys(node.content).length === 0) {
      this.#findings.problem(node, 'content', 'a request body needs content of at least one media type');
      return null;
    }
    const { content } = node;
    // A shared body is a mistake only of operations that do not let it pass.
    const refuse = (type: string, message: string) =>
      node === operation.requestBody
        ? this.#findings.problem(content, type, message)
        : this.#findings.problem(operation, 'requestBody', message);
    const { accepted, unchecked, media } = createContent(
      content,
      'request',
      this.#rules,
      this.#findings,
      uncheckedBody ? 'pass' : refuse,
    );
    if (uncheckedBody && !unchecked) {
      this.#findings.note(operation, UNCHECKED_BODY, 'has no effect: every body of this operation is checked');
    }
    return Object.freeze({ required: node.required === true, accepted, media });
  }
}
