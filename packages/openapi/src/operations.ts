import type { Document } from './document/document.ts';
import {
  isObject,
  isReference,
  type Json,
  objectsIn,
} from './document/source.ts';
import { MAX_BODY_BYTES, readExtensions, replyHeaders } from './extensions.ts';
import type { Findings } from './findings.ts';
import { createContent, prepareContent } from './media/content.ts';
import { uncheckedBodyIn } from './options.ts';
import { createParameterCheck } from './parameters/checker.ts';
import { type Parameter, readParameter } from './parameters/parameter.ts';
import { createResponseChecks, type ResponseChecks } from './responses.ts';
import type { Schemas } from './schema/schemas.ts';
import type { Steps } from './slices.ts';
import { namesIn } from './template.ts';
import type { BodyRule, Operation } from './types.ts';

const NAMES = [
  'get',
  'put',
  'post',
  'delete',
  'options',
  'head',
  'patch',
  'trace',
] as const;

/** Fields of a path item whose mistakes concern one operation. The last two are never served. */
export const METHODS: ReadonlySet<unknown> = new Set([
  ...NAMES,
  'query',
  'additionalOperations',
]);

/**
 * GET and DELETE are not among them: OpenAPI 3.0.3 ignores their `requestBody`, but some services
 * read it.
 */
const WITHOUT_BODY = new Set(['head', 'trace']);

/** In lower case. */
export const methodsIn = (item: Json): string[] =>
  NAMES.filter((name) => isObject(item[name]));

export type Description = Omit<
  Operation,
  | keyof RequestChecks
  | 'checkResponse'
  | 'checkResponseHeaders'
  | 'responseSteps'
  | 'ready'
>;

export type RequestChecks = Pick<Operation, 'checkParameters' | 'body'>;

interface Draft {
  readonly operation: Omit<Description, 'replyHeaders'>;
  readonly node: Json;
}

export type Operations = ReturnType<typeof createOperations>;

export function createOperations(schemas: Schemas) {
  const { document } = schemas;
  const { findings } = document;
  const drafts = new Map<string, Draft>();

  function read(path: string, item: Json): void {
    noteIgnored(findings, item);
    for (const method of methodsIn(item)) readOperation(path, method);
  }

  /** Call it after reading every path item. */
  function finish(prefix: string): readonly (readonly [Description, Json])[] {
    return [...drafts.values()].map(({ operation, node }) => {
      const { successor } = operation;
      const other = successor === null ? null : drafts.get(successor);
      if (other === undefined)
        findings.problem(
          node,
          'x-successor',
          `the operation ${successor} does not exist`,
        );
      const path = other ? prefix + other.operation.path : null;
      return [
        { ...operation, replyHeaders: replyHeaders(operation, path) },
        node,
      ] as const;
    });
  }

  function readOperation(path: string, method: string): void {
    const { node } = operationAt(document, path, method);
    const id = idOf(path, method, node);
    noteIgnored(findings, node);
    const extensions = readExtensions(
      node,
      findings,
      uncheckedBodyIn(document.reading),
    );
    requestChecks(schemas, {
      path,
      method,
      uncheckedBody: extensions.uncheckedBody,
    });
    if (
      extensions.maxBodyBytes !== null &&
      (node.requestBody === undefined || WITHOUT_BODY.has(method))
    ) {
      findings.note(
        node,
        MAX_BODY_BYTES,
        'has no effect: the operation takes no request body',
      );
    }
    responseChecks(schemas, { path, method });
    const operation = {
      id,
      method: method.toUpperCase(),
      path,
      summary: typeof node.summary === 'string' ? node.summary : '',
      tags: Object.freeze(
        Array.isArray(node.tags)
          ? node.tags.filter((tag) => typeof tag === 'string')
          : [],
      ),
      deprecated: node.deprecated === true,
      ...extensions,
      exempt: null,
    };
    drafts.set(id, { operation, node });
  }

  function idOf(path: string, method: string, node: Json): string {
    const { operationId } = node;
    const other = drafts.get(operationId as string);
    if (typeof operationId === 'string' && operationId !== '' && !other)
      return operationId;
    let id = `${method} ${path}`;
    if (other) {
      const { method, path } = other.operation;
      findings.problem(
        node,
        'operationId',
        `${operationId} is the operationId of ${method} ${path} too`,
      );
    } else
      findings.note(
        node,
        null,
        `the operation has no operationId: it is called ${id}`,
      );
    // Another operation may have this id on purpose.
    while (drafts.has(id)) id += "'";
    return id;
  }

  return { read, finish };
}

const IGNORED = {
  servers:
    'servers of paths and operations are ignored: settings decide where requests go',
  callbacks:
    'callbacks are ignored: they are requests of the service, not to it',
} as const;

function noteIgnored(findings: Findings, node: Json): void {
  for (const [key, message] of Object.entries(IGNORED))
    if (node[key] !== undefined) findings.note(node, key, message);
}

type Place = Pick<Description, 'path' | 'method'>;

/** The document must have the operation. */
export function requestChecks(
  schemas: Schemas,
  {
    path,
    method,
    uncheckedBody,
  }: Pick<Description, keyof Place | 'uncheckedBody'>,
): RequestChecks {
  const { document } = schemas;
  const { item, node } = operationAt(document, path, method);
  const names = namesIn(path);
  const parameters = readParameters(schemas, item, node, names);
  const { unknownQuery, semicolon } = document.reading;
  const keys = unknownQuery === 'pass' ? null : queryKeys(document, node);
  return {
    checkParameters: createParameterCheck(parameters, names, {
      keys,
      semicolon,
    }),
    body: readBody(schemas, method.toLowerCase(), node, uncheckedBody),
  };
}

/** Query parameters that only the security schemes of an operation describe. */
function queryKeys(document: Document, operation: Json): string[] {
  const { components, security } = document.root;
  const schemes = document.object(document.object(components)?.securitySchemes);
  return objectsIn(operation.security ?? security)
    .flatMap((requirement) => Object.keys(requirement))
    .map((name) => document.object(schemes?.[name]))
    .filter((scheme) => scheme?.type === 'apiKey' && scheme.in === 'query')
    .map((scheme) => String(scheme!.name));
}

export function* prepareRequestChecks(
  document: Document,
  { path, method }: Place,
): Steps {
  const { content } =
    document.object(operationAt(document, path, method).node.requestBody) ?? {};
  if (isObject(content) && !WITHOUT_BODY.has(method.toLowerCase()))
    yield* prepareContent(content, document);
}

/** The document must have the operation. */
export const responseChecks = (
  schemas: Schemas,
  { path, method }: Place,
): ResponseChecks =>
  createResponseChecks(
    operationAt(schemas.document, path, method).node,
    schemas,
  );

function operationAt(
  document: Document,
  path: string,
  method: string,
): { readonly item: Json; readonly node: Json } {
  const item = document.object((document.root.paths as Json)[path])!;
  return { item, node: item[method.toLowerCase()] as Json };
}

/** Those of the operation override those of the path item. */
function readParameters(
  schemas: Schemas,
  item: Json,
  operation: Json,
  names: readonly string[],
): Parameter[] {
  const { document } = schemas;
  const { findings } = document;
  const own = objectsIn(operation.parameters);
  const seen = new Map<string, number>();
  const inPath = new Set<unknown>();
  const parameters: Parameter[] = [];
  for (const [i, reference] of [
    ...own,
    ...objectsIn(item.parameters),
  ].entries()) {
    const node = document.object(reference);
    if (!node) continue;
    const key = `${node.in} ${node.in === 'header' ? String(node.name).toLowerCase() : node.name}`;
    const before = seen.get(key);
    if (before !== undefined && before < own.length === i < own.length) {
      findings.problem(
        reference,
        null,
        `the ${node.in} parameter ${node.name} is described twice`,
      );
    }
    if (before !== undefined) continue;
    seen.set(key, i);
    if (node.in === 'path') inPath.add(node.name);
    if (node.in === 'path' && !names.includes(node.name as string)) {
      findings.problem(reference, null, `the path has no {${node.name}}`);
    }
    const parameter = readParameter(schemas, node);
    if (parameter) parameters.push(parameter);
  }
  if (isReference(operation)) return parameters;
  for (const name of names) {
    if (!inPath.has(name))
      findings.problem(
        operation,
        null,
        `the path parameter {${name}} is not described`,
      );
  }
  return parameters;
}

function readBody(
  schemas: Schemas,
  method: string,
  operation: Json,
  uncheckedBody: boolean,
): BodyRule | null {
  const { document } = schemas;
  const { dialect, findings } = document;
  if (operation.requestBody === undefined) return null;
  if (WITHOUT_BODY.has(method)) {
    const message = `the body of a ${method.toUpperCase()} request is ignored, as ${dialect.name} says`;
    findings.note(operation, 'requestBody', message);
    return null;
  }
  const node = document.object(operation.requestBody);
  if (!node) return null;
  const { content } = node;
  if (!isObject(content)) {
    findings.problem(node, 'content', 'a request body needs content');
    return null;
  }
  if (Object.keys(content).length === 0) {
    findings.note(
      node,
      'content',
      'describes no media type: the operation takes no body',
    );
    return null;
  }
  // A shared body is a mistake only of operations that do not let it pass.
  const refuse = (type: string, message: string) =>
    node === operation.requestBody
      ? findings.problem(content, type, message)
      : findings.problem(operation, 'requestBody', message);
  const { accepted, unchecked, media } = createContent(
    content,
    'request',
    schemas,
    uncheckedBody ? 'pass' : refuse,
  );
  if (uncheckedBody && !unchecked) {
    const message = 'has no effect: every body of this operation is checked';
    findings.note(operation, uncheckedBodyIn(document.reading), message);
  }
  return Object.freeze({ required: node.required === true, accepted, media });
}
