import { matchSegment, type Segment } from './template.ts';

/** `allow: null`: the path does not exist (404); otherwise the methods of the path (405). */
export type Routed<T> =
  | { readonly operation: T; readonly parameters: readonly string[] }
  | { readonly operation: null; readonly allow: readonly string[] | null };

type Found<T> = Extract<Routed<T>, { readonly parameters: readonly string[] }>;

interface Item<T> {
  readonly methods: Map<string, Found<T>>;
  readonly omitted: Set<string>;
}

interface Search<T> {
  readonly path: string;
  /** Parameters are cut from it. */
  readonly shown: string;
  readonly method: string;
  readonly parameters: string[];
  /** Items of this path without the method. */
  readonly others: Item<T>[];
}

interface Branch<T> {
  readonly literal: Map<string, Branch<T>>;
  /** For example `{a}.json`; segments with more literal text come first. */
  readonly mixed: {
    readonly segment: Segment;
    readonly weight: number;
    readonly branch: Branch<T>;
  }[];
  any: Branch<T> | null;
  item: Item<T> | null;
}

export const NOT_FOUND = Object.freeze({ operation: null, allow: null });
const NO_PARAMETERS: readonly string[] = Object.freeze([]);

/**
 * Literal text comes before a template (OpenAPI 3.0.3, Paths Object, "Path Templating Matching"). A
 * template that also fits the path has the methods that the path with more literal text lacks.
 */
export class Router<T> {
  readonly #concrete = new Map<string, Item<T>>();
  readonly #root: Branch<T> = branch();

  /**
   * Templates with the same outline are one path. No template takes over an omitted method, whose
   * operation is `null`. GET also serves HEAD (RFC 9110 section 9.3.2), unless the contract
   * describes HEAD itself.
   */
  add(segments: readonly Segment[], method: string, operation: T | null): void {
    const { methods, omitted } = this.#itemAt(segments);
    if (operation !== null)
      methods.set(method, { operation, parameters: NO_PARAMETERS });
    else omitted.add(method);
    if (operation === null && method === 'GET') omitted.add('HEAD');
  }

  /**
   * `path` is canonical, without a query. Parameters are in the order of the template, cut from
   * `shown`, which has the length of `path`.
   */
  match(method: string, path: string, shown = path): Routed<T> {
    const concrete = this.#concrete.get(path);
    const found = concrete && foundIn(concrete, method);
    if (found) return found;
    const others = concrete ? [concrete] : [];
    const search: Search<T> = { path, shown, method, parameters: [], others };
    const item = concrete?.omitted.has(method)
      ? null
      : find(this.#root, 1, search);
    const template = item && foundIn(item, method);
    if (template)
      return { operation: template.operation, parameters: search.parameters };
    if (search.others.length === 0) return NOT_FOUND;
    return {
      operation: null,
      allow: [...new Set(search.others.flatMap(methodsOf))],
    };
  }

  #itemAt(segments: readonly Segment[]): Item<T> {
    if (segments.every(({ names }) => names.length === 0)) {
      const path = segments.map(({ literals }) => `/${literals[0]}`).join('');
      const existing = this.#concrete.get(path) ?? emptyItem<T>();
      this.#concrete.set(path, existing);
      return existing;
    }
    let at = this.#root;
    for (const segment of segments) {
      if (segment.names.length === 0)
        at = entry(at.literal, segment.literals[0]!);
      else if (segment.literals.every((literal) => literal === ''))
        at = at.any ??= branch();
      else at = mixedEntry(at, segment);
    }
    at.item ??= emptyItem();
    return at.item;
  }
}

function foundIn<T>(
  { methods }: Item<T>,
  method: string,
): Found<T> | undefined {
  return (
    methods.get(method) ?? (method === 'HEAD' ? methods.get('GET') : undefined)
  );
}

function methodsOf<T>({ methods }: Item<T>): string[] {
  return methods.has('GET') ? [...methods.keys(), 'HEAD'] : [...methods.keys()];
}

const emptyItem = <T>(): Item<T> => ({
  methods: new Map(),
  omitted: new Set(),
});

const branch = <T>(): Branch<T> => ({
  literal: new Map(),
  mixed: [],
  any: null,
  item: null,
});

function entry<T>(
  branches: Map<string, Branch<T>>,
  literal: string,
): Branch<T> {
  const next = branches.get(literal) ?? branch<T>();
  branches.set(literal, next);
  return next;
}

function mixedEntry<T>({ mixed }: Branch<T>, segment: Segment): Branch<T> {
  const outline = segment.literals.join('{}');
  const existing = mixed.find(
    (other) => other.segment.literals.join('{}') === outline,
  );
  if (existing) return existing.branch;
  const weight = segment.literals.reduce((sum, { length }) => sum + length, 0);
  const next = branch<T>();
  mixed.push({ segment, weight, branch: next });
  mixed.sort((a, b) => b.weight - a.weight);
  return next;
}

/** The item that ends the search: it has the method, or omits it. */
function find<T>(
  at: Branch<T>,
  start: number,
  search: Search<T>,
): Item<T> | null {
  const { path, method, others } = search;
  if (start > path.length) {
    const { item } = at;
    if (item === null || foundIn(item, method)) return item;
    others.push(item);
    return item.omitted.has(method) ? item : null;
  }
  const slash = path.indexOf('/', start);
  const end = slash < 0 ? path.length : slash;
  const segment = path.slice(start, end);
  const literal = at.literal.get(segment);
  const found = literal ? find(literal, end + 1, search) : null;
  return found ?? findTemplate(at, segment, start, search);
}

function findTemplate<T>(
  at: Branch<T>,
  segment: string,
  start: number,
  search: Search<T>,
): Item<T> | null {
  const { path, shown, parameters } = search;
  const before = parameters.length;
  const end = start + segment.length;
  const value = shown === path ? segment : shown.slice(start, end);
  for (const mixed of at.mixed) {
    const values = matchSegment(mixed.segment, segment, value);
    if (!values) continue;
    parameters.push(...values);
    const found = find(mixed.branch, end + 1, search);
    if (found) return found;
    parameters.length = before;
  }
  if (!at.any || segment === '') return null;
  parameters.push(value);
  const found = find(at.any, end + 1, search);
  if (!found) parameters.length = before;
  return found;
}
