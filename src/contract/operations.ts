import type { Document } from './document/document.ts';
import { isObject, type Json, objectsIn } from './document/source.ts';
import { type Extensions, readExtensions, replyHeaders } from './extensions.ts';
import type { Findings } from './findings.ts';
import { createContent } from './media/content.ts';
import { MediaRules } from './media/rules.ts';
import { createParameterCheck } from './parameters/checker.ts';
import { type Parameter, Parameters } from './parameters/parameter.ts';
import { createResponseCheck } from './responses.ts';
import type { Schemas } from './schema/schemas.ts';
import type { BodyRule, Operation, UnknownQuery } from './types.ts';

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'] as const;

/**
 * Methods that never have a body here. OpenAPI 3.0.3 ignores `requestBody` of GET and DELETE too, because HTTP gives it no
 * meaning; but documents describe one because their services read it, so it is checked and forwarded.
 */
const WITHOUT_BODY = new Set(['head', 'trace']);

/** The methods that a path item describes, in lower case. */
export const methodsIn = (item: Json): string[] => METHODS.filter((method) => isObject(item[method]));

/** An operation without the fields that depend on other operations. */
type Draft = Omit<Operation, 'replyHeaders'> & { readonly node: Json; readonly extensions: Extensions };

/** Reads the operations of path items and reports their mistakes. */
export class Operations {
  readonly #drafts = new Map<string, Draft>();
  readonly #document: Document;
  readonly #findings: Findings;
  readonly #parameters: Parameters;
  readonly #rules: MediaRules;
  readonly #unknownQuery: UnknownQuery;

  constructor(document: Document, schemas: Schemas, findings: Findings, unknownQuery: UnknownQuery) {
    this.#document = document;
    this.#findings = findings;
    this.#parameters = new Parameters(document, schemas, findings);
    this.#rules = new MediaRules(document, schemas, findings);
    this.#unknownQuery = unknownQuery;
  }

  /** Reads one path item. `names`: the templates of its path, in their order. */
  read(path: string, item: Json, names: readonly string[]): void {
    const shared = objectsIn(item.parameters);
    for (const method of methodsIn(item)) this.#operation(path, method, item[method] as Json, shared, names);
  }

  /** All operations by path and then by method in capitals. Call it after reading every path item. */
  finish(): {
    readonly all: readonly Operation[];
    readonly byPath: ReadonlyMap<string, ReadonlyMap<string, Operation>>;
  } {
    const byPath = new Map<string, Map<string, Operation>>();
    const all: Operation[] = [];
    for (const { node, extensions, ...draft } of this.#drafts.values()) {
      const successor = draft.successor === null ? null : this.#drafts.get(draft.successor);
      if (successor === undefined)
        this.#findings.problem(node, 'x-successor', `there is no operation ${draft.successor}`);
      const operation = Object.freeze({ ...draft, replyHeaders: replyHeaders(extensions, successor?.path ?? null) });
      all.push(operation);
      byPath.set(draft.path, (byPath.get(draft.path) ?? new Map()).set(draft.method, operation));
    }
    return { all: Object.freeze(all), byPath };
  }

  #operation(path: string, method: string, node: Json, shared: readonly Json[], names: readonly string[]): void {
    const id = this.#id(path, method, node);
    const extensions = readExtensions(node, this.#findings);
    const parameters = this.#readParameters([...objectsIn(node.parameters), ...shared], node, names);
    const draft: Draft = {
      id,
      method: method.toUpperCase(),
      path,
      summary: typeof node.summary === 'string' ? node.summary : '',
      tags: Object.freeze(Array.isArray(node.tags) ? node.tags.filter((tag) => typeof tag === 'string') : []),
      deprecated: node.deprecated === true,
      ...extensions,
      checkParameters: createParameterCheck(parameters, names, this.#unknownQuery),
      body: this.#body(method, node),
      checkResponse: createResponseCheck(node, this.#document, this.#rules, this.#findings),
      node,
      extensions,
    };
    const other = this.#drafts.get(id);
    if (other)
      this.#findings.problem(node, 'operationId', `${id} is the operationId of ${other.method} ${other.path} too`);
    else this.#drafts.set(id, draft);
  }

  #id(path: string, method: string, node: Json): string {
    if (typeof node.operationId === 'string' && node.operationId !== '') return node.operationId;
    const id = `${method} ${path}`;
    this.#findings.note(node, null, `the operation has no operationId: it is called ${id}`);
    return id;
  }

  /** Parameters of the operation come first and hide parameters of the path item with the same name and place. */
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
    for (const name of names) {
      if (!inPath.has(name)) this.#findings.problem(operation, null, `the path parameter {${name}} is not described`);
    }
    return parameters;
  }

  #body(method: string, operation: Json): BodyRule | null {
    if (operation.requestBody === undefined) return null;
    if (WITHOUT_BODY.has(method)) {
      this.#findings.note(
        operation,
        'requestBody',
        `the body of a ${method.toUpperCase()} request is ignored, as OpenAPI 3.0 says`,
      );
      return null;
    }
    const node = this.#document.object(operation.requestBody);
    if (!node) return null;
    if (!isObject(node.content) || Object.keys(node.content).length === 0) {
      this.#findings.problem(node, 'content', 'a request body needs content of at least one media type');
      return null;
    }
    const { accepted, media } = createContent(node.content, 'request', this.#rules, this.#findings);
    return Object.freeze({ required: node.required === true, accepted, media });
  }
}
