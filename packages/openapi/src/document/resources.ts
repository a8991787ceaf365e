import { dirname, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Dialect } from '../dialect/dialect.ts';
import { fieldOf, type Kind, membersOf } from '../dialect/grammar.ts';
import { decoded, follow, isObject, type Json } from './source.ts';
import { type Found, foundAt, onNetwork, type Sources } from './sources.ts';

const LANGUAGES =
  /^https:\/\/(?:json-schema\.org\/draft\/2020-12\/schema|spec\.openapis\.org\/oas\/3\.[12]\/(?:dialect|schema)\/[\w-]+)#?$/;

const ON_OFF = new Set([
  'additionalProperties',
  'unevaluatedItems',
  'unevaluatedProperties',
  'items',
]);

interface Resource {
  readonly root: unknown;
  readonly anchors: Map<string, Json>;
}

/**
 * JSON Schema 2020-12 section 8.2.3.2: the outermost resource that a check passed through decides.
 * Resource 0 is the document.
 */
export interface Dynamics {
  /** By resource and name. */
  readonly anchors: readonly ReadonlyMap<string, string>[];
  readonly targets: ReadonlyMap<string, number>;
  readonly ids: ReadonlyMap<string, number>;
}

export type Resources = ReturnType<typeof createResources>;

/** JSON Schema 2020-12 section 8.2. */
export function createResources(dialect: Dialect, sources: Sources) {
  const { findings, places } = sources;
  const resources = new Map<string, Resource>();
  const bases = new WeakMap<object, string>();
  const kinds = new WeakMap<object, Kind>();
  const dynamicNames = new WeakMap<object, string>();
  let hasDynamic = false;

  /** `undefined` if no identifier is involved. */
  function find(ref: string, node: Json, file: string): Found | undefined {
    const base = bases.get(node) ?? address(file);
    const target = URL.parse(ref, base);
    const fragment = decoded(target?.hash.slice(1) ?? '');
    if (!target || fragment === undefined)
      return `${ref} is not a valid reference`;
    target.hash = '';
    const own = base === address(file);
    if (!resources.has(target.href) && target.protocol === 'file:') {
      const path = relative(dirname(file), fileURLToPath(target));
      const found = sources.find(
        own ? ref.replace(/#.*$/s, '') : encodeURI(path),
        file,
      );
      if (!isObject(found)) return found;
      enterFile(found, places.fileOf(found));
    }
    const resource = resources.get(target.href);
    if (!resource) return onNetwork(ref);
    const isPointer = fragment === '' || fragment.startsWith('/');
    if (own && isPointer && target.protocol === 'file:') return undefined;
    const value = isPointer
      ? follow(resource.root, fragment)
      : resource.anchors.get(fragment);
    if (value === undefined && ref.startsWith('#') && base !== address(file))
      return `${ref} does not exist in the schema with the $id ${base}, where # begins`;
    return foundAt(value, ref);
  }

  /** Whether the scope decides what the reference means. Otherwise it acts like `$ref`. */
  function isDynamic({ $dynamicRef }: Json, target: Json): boolean {
    const name = dynamicNames.get(target);
    const byName = name === String($dynamicRef).replace(/^[^#]*#?/s, '');
    hasDynamic ||= byName;
    return byName || name === undefined;
  }

  function add(target: Json, kind: Kind): void {
    const file = places.fileOf(target);
    const root = sources.find('', file);
    enterFile(isObject(root) ? root : {}, file);
    visit(target, kind, address(file));
  }

  function enterFile(root: Json, file: string): void {
    const base = address(file);
    if (resources.has(base)) return;
    resources.set(base, { root, anchors: new Map() });
    visit(root, 'openapi' in root ? 'openapi' : 'schema', base);
  }

  function visit(node: Json, kind: Kind, outer: string): void {
    if (kinds.get(node) === kind) return;
    // A file is treated as a schema until a reference determines its kind.
    kinds.set(node, kind);
    const base = kind === 'schema' ? enter(node, outer) : outer;
    bases.set(node, base);
    for (const key of Object.keys(node)) {
      const field = fieldOf(dialect.grammar, kind, key);
      if (!field) continue;
      for (const [holder, name, of] of membersOf(node, key, field)) {
        if (
          of === 'schema' &&
          typeof holder[name] === 'boolean' &&
          !ON_OFF.has(key)
        )
          spell(holder, name);
        const inner = holder[name];
        if (isObject(inner)) visit(inner, of, base);
      }
    }
  }

  function spell(holder: Json, name: string): void {
    const schema: Json = holder[name] === true ? {} : { not: {} };
    const outer = places.origin(holder);
    const origin = {
      source: outer.source,
      tokens: [...outer.tokens, name],
      offset: () => outer.offset(name),
    };
    places.set(schema, origin);
    if (isObject(schema.not))
      places.set(schema.not, {
        ...origin,
        tokens: [...origin.tokens, 'not'],
      });
    holder[name] = schema;
  }

  function enter(node: Json, outer: string): string {
    const { $id } = node;
    language(node, '$schema');
    const base = typeof $id === 'string' ? identify(node, $id, outer) : outer;
    for (const key of ['$anchor', '$dynamicAnchor']) {
      const name = node[key];
      if (typeof name !== 'string') continue;
      if (key === '$dynamicAnchor') dynamicNames.set(node, name);
      const { anchors } = resources.get(base)!;
      if (!/^[A-Za-z_][-A-Za-z0-9._]*$/.test(name))
        findings.problem(node, key, 'must be a name');
      else if (anchors.has(name))
        findings.problem(
          node,
          key,
          `${name} is the name of another schema too`,
        );
      else anchors.set(name, node);
    }
    return base;
  }

  function identify(node: Json, id: string, outer: string): string {
    const url = URL.parse(id, outer);
    if (url?.hash !== '') {
      findings.problem(node, '$id', 'must be a reference without a fragment');
      return outer;
    }
    // An empty fragment has no effect.
    const base = url.href.replace(/#$/, '');
    if (resources.has(base)) {
      findings.problem(node, '$id', `${id} is the $id of another schema too`);
      return outer;
    }
    resources.set(base, { root: node, anchors: new Map() });
    return base;
  }

  function language(node: Json, key: '$schema' | 'jsonSchemaDialect'): void {
    const { [key]: language } = node;
    if (typeof language !== 'string' || LANGUAGES.test(language)) return;
    findings.problem(
      node,
      key,
      `the language of schemas ${language} is not known here, only JSON Schema 2020-12`,
    );
  }

  /**
   * Call it when all references are known. `home` places a schema in the bundled document if
   * necessary, and returns the reference to it.
   */
  function dynamics(
    references: readonly Json[],
    home: (target: Json) => string,
  ): Dynamics | null {
    if (!hasDynamic) return null;
    const pointerOf = (ref: string) => decodeURIComponent(ref.slice(1));
    const all = [...resources.values()];
    const addresses = [...resources.keys()];
    const anchors = all.map(({ anchors }) => {
      const dynamic = [...anchors].filter(
        ([name, node]) => dynamicNames.get(node) === name,
      );
      return new Map(
        dynamic.map(([name, node]) => [name, pointerOf(home(node))]),
      );
    });
    const targets = new Map<string, number>();
    for (const { $ref } of references) {
      const pointer = pointerOf(String($ref));
      const target = follow(sources.root, pointer);
      if (isObject(target))
        targets.set(
          pointer,
          Math.max(addresses.indexOf(bases.get(target) ?? ''), 0),
        );
    }
    const ids = new Map<string, number>();
    for (const [number, { root }] of all.entries()) {
      if (isObject(root) && typeof root['x-id'] === 'string')
        ids.set(root['x-id'], number);
    }
    return { anchors, targets, ids };
  }

  language(sources.root, 'jsonSchemaDialect');
  enterFile(sources.root, sources.file);
  return { find, isDynamic, add, dynamics };
}

const address = (file: string) => pathToFileURL(resolve(file)).href;
