import { dirname, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Dialect } from '../dialect/dialect.ts';
import type { Field, Kind } from '../dialect/grammar.ts';
import type { Findings } from '../findings.ts';
import type { Places } from './places.ts';
import { follow, isObject, type Json } from './source.ts';
import type { Found, Sources } from './sources.ts';

const LANGUAGES =
  /^https:\/\/(?:json-schema\.org\/draft\/2020-12\/schema|spec\.openapis\.org\/oas\/3\.[12]\/(?:dialect|schema)\/[\w-]+)#?$/;

const ON_OFF = new Set(['additionalProperties', 'unevaluatedItems', 'unevaluatedProperties', 'items']);

interface Anchor {
  readonly node: Json;
  readonly dynamic: boolean;
}

interface Resource {
  readonly root: unknown;
  readonly anchors: Map<string, Anchor>;
}

/** JSON Schema 2020-12 section 8.2. */
export class Resources {
  readonly #resources = new Map<string, Resource>();
  readonly #bases = new WeakMap<object, string>();
  readonly #kinds = new WeakMap<object, Kind>();
  readonly #dynamicNames = new WeakMap<object, string>();
  #dynamic = false;
  readonly #dialect: Dialect;
  readonly #sources: Sources;
  readonly #places: Places;
  readonly #findings: Findings;

  constructor(dialect: Dialect, sources: Sources, places: Places, findings: Findings) {
    this.#dialect = dialect;
    this.#sources = sources;
    this.#places = places;
    this.#findings = findings;
    this.#file(sources.root as Json, sources.file);
  }

  get isDynamic(): boolean {
    return this.#dynamic;
  }

  get all(): ReadonlyMap<string, Resource> {
    return this.#resources;
  }

  baseOf(node: object): string | undefined {
    return this.#bases.get(node);
  }

  /** `null` if no identifier is involved. */
  find(ref: string, node: Json, file: string): Found | null {
    const base = this.#bases.get(node) ?? address(file);
    const target = URL.parse(ref, base);
    if (!target) return { target: null, complaint: `${ref} is not a valid reference` };
    const fragment = decode(target.hash.slice(1));
    target.hash = '';
    if (fragment === null) return { target: null, complaint: `${ref} is not a valid reference` };
    const own = base === address(file);
    if (!this.#resources.has(target.href) && target.protocol === 'file:') {
      const path = relative(dirname(file), fileURLToPath(target));
      const found = this.#sources.find(own ? ref.replace(/#.*$/s, '') : encodeURI(path), file);
      if (!found.target) return found;
      this.#file(found.target, this.#places.fileOf(found.target));
    }
    const resource = this.#resources.get(target.href);
    if (!resource) return { target: null, complaint: `${ref} is on the network: only files are read` };
    const isPointer = fragment === '' || fragment.startsWith('/');
    if (own && isPointer && target.protocol === 'file:') return null;
    const found = isPointer ? follow(resource.root, fragment) : resource.anchors.get(fragment)?.node;
    if (isObject(found)) return { target: found, complaint: null };
    return { target: null, complaint: found === undefined ? `${ref} does not exist` : `${ref} is not an object` };
  }

  /** Otherwise the dynamic reference acts like `$ref`. */
  isByName({ $dynamicRef }: Json, target: Json): boolean {
    const byName = this.#dynamicNames.get(target) === String($dynamicRef).replace(/^[^#]*#?/s, '');
    this.#dynamic ||= byName;
    return byName;
  }

  hasDynamicAnchor(schema: Json): boolean {
    return this.#dynamicNames.has(schema);
  }

  add(target: Json, kind: Kind): void {
    const file = this.#places.fileOf(target);
    this.#file(this.#sources.find('', file).target ?? {}, file);
    this.#walk(target, kind, address(file));
  }

  #file(root: Json, file: string): void {
    const base = address(file);
    if (this.#resources.has(base)) return;
    this.#resources.set(base, { root, anchors: new Map() });
    this.#walk(root, 'openapi' in root ? 'openapi' : 'schema', base);
  }

  #walk(node: Json, kind: Kind, outer: string): void {
    if (this.#kinds.get(node) === kind) return;
    // A file is treated as a schema until a reference determines its kind.
    this.#kinds.set(node, kind);
    const base = kind === 'schema' ? this.#enter(node, outer) : outer;
    this.#bases.set(node, base);
    const fields = this.#dialect.grammar[kind];
    for (const key of Object.keys(node)) {
      const field = fields[key] ?? fields['*'];
      if (!field || key.startsWith('x-')) continue;
      for (const [holder, name, of] of membersOf(node, key, field)) {
        if (of === 'schema' && typeof holder[name] === 'boolean' && !ON_OFF.has(key)) this.#spell(holder, name);
        const inner = holder[name];
        if (isObject(inner)) this.#walk(inner, of, base);
      }
    }
  }

  #spell(holder: Json, name: string): void {
    const schema: Json = holder[name] === true ? {} : { not: {} };
    const outer = this.#places.origin(holder);
    const origin = { source: outer.source, tokens: [...outer.tokens, name], offset: () => outer.offset(name) };
    this.#places.set(schema, origin);
    if (isObject(schema.not)) this.#places.set(schema.not, { ...origin, tokens: [...origin.tokens, 'not'] });
    holder[name] = schema;
  }

  #enter(node: Json, outer: string): string {
    const { $id, $schema } = node;
    if (typeof $schema === 'string' && !LANGUAGES.test($schema)) this.#unknown(node, '$schema', $schema);
    const base = typeof $id === 'string' ? this.#identify(node, $id, outer) : outer;
    for (const key of ['$anchor', '$dynamicAnchor']) {
      const name = node[key];
      if (typeof name !== 'string') continue;
      if (key === '$dynamicAnchor') this.#dynamicNames.set(node, name);
      const { anchors } = this.#resources.get(base)!;
      if (!/^[A-Za-z_][-A-Za-z0-9._]*$/.test(name)) this.#findings.problem(node, key, 'must be a name');
      else if (anchors.has(name)) this.#findings.problem(node, key, `${name} is the name of another schema too`);
      else anchors.set(name, { node, dynamic: key === '$dynamicAnchor' });
    }
    return base;
  }

  #identify(node: Json, id: string, outer: string): string {
    const url = URL.parse(id, outer);
    if (url?.hash !== '') {
      this.#findings.problem(node, '$id', 'must be a reference without a fragment');
      return outer;
    }
    // An empty fragment has no effect.
    const base = url.href.replace(/#$/, '');
    if (this.#resources.has(base)) {
      this.#findings.problem(node, '$id', `${id} is the $id of another schema too`);
      return outer;
    }
    this.#resources.set(base, { root: node, anchors: new Map() });
    return base;
  }

  #unknown(node: Json, key: string, language: string): void {
    this.#findings.problem(
      node,
      key,
      `the language of schemas ${language} is not known here, only JSON Schema 2020-12`,
    );
  }

  checkLanguage(root: Json): void {
    const { jsonSchemaDialect } = root;
    if (typeof jsonSchemaDialect === 'string' && !LANGUAGES.test(jsonSchemaDialect))
      this.#unknown(root, 'jsonSchemaDialect', jsonSchemaDialect);
  }
}

const address = (file: string): string => pathToFileURL(resolve(file)).href;

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return null;
    throw error;
  }
}

function membersOf(node: Json, key: string, field: Field): (readonly [holder: Json, name: string, kind: Kind])[] {
  if (typeof field === 'string') return [];
  const { [key]: value } = node;
  if ('one' in field || 'oneOrBoolean' in field) return [[node, key, 'one' in field ? field.one : field.oneOrBoolean]];
  if (typeof value !== 'object' || value === null || Array.isArray(value) !== 'list' in field) return [];
  return Object.keys(value).map((name) => [value as Json, name, 'list' in field ? field.list : field.map]);
}
