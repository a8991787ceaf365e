import { DEFAULT, type Dialect, dialectOf } from '../dialect/dialect.ts';
import { type Kind, nodesIn, sectionOf } from '../dialect/grammar.ts';
import { createFindings, type Findings } from '../findings.ts';
import type { ReadingOptions } from '../options.ts';
import { ContractError } from '../problems.ts';
import { bundle, type JudgeField } from './bundle.ts';
import type { Dynamics } from './resources.ts';
import {
  decoded,
  follow,
  isObject,
  type Json,
  objectsIn,
  type SourceFile,
} from './source.ts';
import { Sources } from './sources.ts';

/** All references are local. */
export class Document {
  readonly root: Json;
  readonly reading: ReadingOptions;
  readonly dynamics: Dynamics | null;
  readonly findings: Findings;
  readonly dialect: Dialect;

  constructor(
    root: Json,
    reading: ReadingOptions = {},
    dynamics: Dynamics | null = null,
    findings = createFindings(null),
  ) {
    this.root = root;
    this.reading = reading;
    this.dynamics = dynamics;
    this.findings = findings;
    this.dialect = dialectOf(root) ?? DEFAULT;
  }

  /**
   * `pointer` is `null` for an inline object. `null` if the target is missing or the references
   * form a circle, which loading has reported.
   */
  resolve(
    node: Json,
  ): { readonly node: Json; readonly pointer: string | null } | null {
    const { end, way } = this.#follow(node);
    return isObject(end) ? { node: end, pointer: way.at(-1) ?? null } : null;
  }

  /** The pointers that a reference leads through. */
  way(ref: string): readonly string[] {
    return this.#follow({ $ref: ref }).way;
  }

  isCircle(node: Json): boolean {
    return this.#follow(node).end === 'circle';
  }

  #follow(node: Json): {
    readonly way: readonly string[];
    readonly end: unknown;
  } {
    const way: string[] = [];
    let end: unknown = node;
    while (isObject(end) && this.dialect.isReference(end)) {
      const pointer = pointerIn(end.$ref as string);
      if (pointer === undefined) return { way, end: null };
      if (way.includes(pointer)) return { way, end: 'circle' };
      way.push(pointer);
      end = follow(this.root, pointer);
    }
    return { way, end };
  }

  target(ref: string): Json | null {
    const pointer = pointerIn(ref);
    const target = pointer === undefined ? null : follow(this.root, pointer);
    return isObject(target) ? target : null;
  }

  object(value: unknown): Json | null {
    return isObject(value) ? (this.resolve(value)?.node ?? null) : null;
  }

  beside(schema: Json): Json | null {
    if (typeof schema.$ref !== 'string' || this.dialect.isReference(schema))
      return null;
    return this.object({ $ref: schema.$ref });
  }

  /** A schema and all that it combines with `allOf` or beside `$ref`. */
  combined(schema: unknown): ReadonlySet<Json> {
    const parts = new Set<Json>();
    const add = (part: unknown) => {
      const node = this.object(part);
      if (node) parts.add(node);
    };
    add(schema);
    for (const part of parts)
      for (const inner of [...objectsIn(part.allOf), this.beside(part)])
        add(inner);
    return parts;
  }

  /** See `nodesIn`. */
  inside(node: Json, kind: Kind): Generator<readonly [node: Json, kind: Kind]> {
    return nodesIn(this.dialect.grammar, node, kind);
  }

  /** Of one object, without those inside. They lead to objects of the same kind. */
  referencesOf({ $ref, $dynamicRef }: Json, kind: Kind): string[] {
    const { grammar, identifiers } = this.dialect;
    if (kind !== 'pathItem' && sectionOf(grammar, kind) === undefined)
      return [];
    const all = kind === 'schema' && identifiers ? [$ref, $dynamicRef] : [$ref];
    return all.filter((ref) => typeof ref === 'string');
  }

  /** The object, and all that it contains or refers to, each once. */
  *reach(node: Json, kind: Kind): Generator<readonly [node: Json, kind: Kind]> {
    const roots = new Map([[node, kind]]);
    const seen = new Set<Json>();
    for (const [root, of] of roots) {
      if (seen.has(root)) continue;
      for (const [inner, kind] of this.inside(root, of)) {
        if (seen.has(inner)) continue;
        seen.add(inner);
        yield [inner, kind];
        for (const ref of this.referencesOf(inner, kind)) {
          const target = this.target(ref);
          if (target && !seen.has(target)) roots.set(target, kind);
        }
      }
    }
  }

  members(value: unknown): [name: string, value: unknown][] {
    return isObject(value) ? Object.entries(value) : [];
  }
}

/** `undefined` for a reference that is not local, which loading has reported. */
const pointerIn = (ref: string) =>
  ref.startsWith('#') ? decoded(ref.slice(1)) : undefined;

function versionComplaint({ openapi, swagger }: Json): string {
  const found = openapi ?? swagger;
  if (found === undefined)
    return 'must be an OpenAPI 3.0, 3.1 or 3.2 document, but has no field openapi';
  if (swagger === undefined)
    return `must be OpenAPI 3.0, 3.1 or 3.2, such as 3.1.0, not ${String(found)}`;
  return `must be OpenAPI 3.0, 3.1 or 3.2, not Swagger ${String(found)}: npx swagger2openapi FILE -o openapi.yaml converts it`;
}

/**
 * `texts` are those of all files, by absolute path.
 *
 * @throws ContractError if the file is not an OpenAPI document of a supported version.
 */
export function loadDocument(
  file: SourceFile,
  reading: ReadingOptions,
  judgeField: JudgeField,
): {
  readonly document: Document;
  readonly texts: ReadonlyMap<string, string>;
} {
  const sources = new Sources(file);
  const { root, places, findings } = sources;
  const dialect = dialectOf(root);
  if (!dialect) {
    const key =
      'openapi' in root ? 'openapi' : 'swagger' in root ? 'swagger' : null;
    throw new ContractError([places.of(root, key, versionComplaint(root))]);
  }
  const { references, dynamics } = bundle(dialect, sources, judgeField);
  const document = new Document(root, reading, dynamics, findings);
  for (const node of references) {
    if (document.isCircle(node))
      findings.problem(node, '$ref', `${node.$ref} refers to itself`);
  }
  return { document, texts: sources.texts };
}
