import type {
  ApiDocument,
  Body,
  Operation,
  Parameter,
  PathItem,
  Schema,
  SchemaNode,
  Server,
} from './document.ts';
import { UNTAGGED } from './groups.ts';
import { placeHash } from './places.ts';

/** One operation below one of its tags. */
export interface Row {
  readonly tag: string;
  /** The fragment that leads to it. */
  readonly hash: string;
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
  readonly item: PathItem;
}

/** Of operations in a path. */
export const METHODS = new Set([
  'get',
  'put',
  'post',
  'delete',
  'options',
  'head',
  'patch',
  'trace',
]);

export type Api = ReturnType<typeof createApi>;

/** A document whose references are followed when they are needed. */
export function createApi(root: ApiDocument) {
  const joined = new WeakMap<Schema, Schema>();
  /** Schemas whose parts are being joined: one that consists of itself has no parts. */
  const open = new Set<Schema>();
  const { servers = [] } = root;

  /** A component in place of the reference to it. Members beside the reference win. */
  function resolve<T extends { readonly $ref?: string }>(
    node: T,
    depth = 0,
  ): T {
    const { $ref, ...own } = node;
    if ($ref === undefined || depth > 20) return node;
    const target = at($ref) as T | undefined;
    return { ...(target && resolve(target, depth + 1)), ...own } as T;
  }

  /** A schema with the members of its `$ref` and `allOf`. Members that are schemas stay as they are. */
  function schema(node: SchemaNode | undefined): Schema {
    if (typeof node !== 'object') return node === false ? { not: {} } : {};
    const cached = joined.get(node);
    if (cached || open.has(node)) return cached ?? {};
    open.add(node);
    const flat = flatten(node);
    open.delete(node);
    joined.set(node, flat);
    return flat;
  }

  function parameters({ operation, item }: Row): readonly Parameter[] {
    const all = [...(item.parameters ?? []), ...(operation.parameters ?? [])];
    const found = all.map((parameter) => resolve(parameter));
    return [
      ...new Map(found.map((one) => [`${one.in} ${one.name}`, one])).values(),
    ];
  }

  function body({ operation }: Row): Body | undefined {
    return operation.requestBody && resolve(operation.requestBody);
  }

  /** The media types of successful responses. */
  function accepted({ operation }: Row): readonly string[] {
    const found = Object.entries(operation.responses ?? {}).filter(([status]) =>
      /^2/.test(status),
    );
    const types = found.flatMap(([, node]) =>
      Object.keys(resolve(node).content ?? {}),
    );
    return [...new Set(types)];
  }

  /** Relative or absolute, with the defaults of its variables and no slash at its end. */
  function server({ operation, item }: Row, chosen: number): string {
    const own = operation.servers ?? item.servers;
    const server = own?.[0] ?? servers[chosen];
    return server === undefined ? '' : urlOf(server).replace(/\/$/, '');
  }

  /** What an operation may send besides the key, by name. */
  function schemes({ operation }: Row): readonly string[] {
    const needed = operation.security ?? root.security ?? [];
    return [
      ...new Set(needed.flatMap((requirement) => Object.keys(requirement))),
    ];
  }

  function at(ref: string): unknown {
    const tokens = ref.split('/').slice(1);
    return tokens.reduce<unknown>(
      (node, token) =>
        (node as Readonly<Record<string, unknown>> | undefined)?.[
          unescaped(token)
        ],
      root,
    );
  }

  function flatten({ $ref, allOf = [], ...own }: Schema): Schema {
    if ($ref === undefined && allOf.length === 0) return own;
    const target = $ref === undefined ? [] : [at($ref) as SchemaNode];
    const parts = [...target, ...allOf].map((part) => schema(part));
    // OpenAPI 3.0 ignores what stands beside a reference.
    return $ref !== undefined && root.openapi.startsWith('3.0')
      ? parts[0]!
      : join([...parts, own]);
  }

  function* readRows(): Generator<Row> {
    for (const [path, node] of Object.entries(root.paths ?? {})) {
      const item = resolve(node);
      for (const [method, value] of Object.entries(item)) {
        if (!METHODS.has(method)) continue;
        const operation = value as Operation;
        const tags = operation.tags?.length ? operation.tags : [UNTAGGED];
        const name = operation.operationId ?? `${method} ${path}`;
        const own = { method: method.toUpperCase(), path, operation, item };
        for (const tag of new Set(tags))
          yield { tag, hash: placeHash(tag, name), ...own };
      }
    }
  }

  return {
    root,
    servers,
    /** Operations by tag, in the order of the document. */
    rows: Map.groupBy(readRows(), ({ tag }) => tag),
    resolve,
    schema,
    parameters,
    body,
    accepted,
    server,
    schemes,
  };
}

/** With the defaults of its variables. */
export const urlOf = ({ url, variables = {} }: Server): string =>
  url.replace(
    /\{([^}]*)\}/g,
    (text, name: string) => variables[name]?.default ?? text,
  );

const unescaped = (token: string): string =>
  decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~');

/** One schema of several that apply at once. */
export function join(parts: readonly Schema[]): Schema {
  const merged = (keyword: 'properties' | 'patternProperties') =>
    parts.some((part) => part[keyword])
      ? { [keyword]: Object.assign({}, ...parts.map((part) => part[keyword])) }
      : {};
  const required = parts.flatMap((part) => part.required ?? []);
  return Object.assign(
    {},
    ...parts,
    merged('properties'),
    merged('patternProperties'),
    {
      required,
    },
  );
}
