import {
  aBoolean,
  aText,
  type Dialect,
  type KeywordValues,
} from '../dialect/dialect.ts';
import {
  type Field,
  type Kind,
  membersOf,
  sectionOf,
} from '../dialect/grammar.ts';
import type { Findings } from '../findings.ts';
import { escapeToken } from '../names.ts';
import { Nesting } from '../nesting.ts';
import { PathItems } from './path-items.ts';
import { type Dynamics, Resources } from './resources.ts';
import { follow, isObject, isReference, type Json } from './source.ts';
import type { Sources } from './sources.ts';

const HARMLESS = new Set([
  '$ref',
  'description',
  'summary',
  'title',
  'example',
]);

/** Two files may have the same identifiers, and references are local in the bundled document. */
const IDENTIFIERS = {
  $id: 'x-id',
  $anchor: 'x-anchor',
  $dynamicAnchor: 'x-dynamic-anchor',
};

const NAMES: Partial<Record<Kind, string>> = {
  openapi: 'whole document',
  pathItem: 'path item',
  requestBody: 'request body',
  mediaType: 'media type',
  securityScheme: 'security scheme',
};

export interface FieldFlaw {
  readonly message: string;
  readonly severity: 'refuse' | 'note';
}

export type JudgeField = (field: string, kind: string) => FieldFlaw | null;

type Severity = 'problem' | 'refuse';

const MUST_BE: Readonly<Record<string, KeywordValues>> = {
  string: aText,
  boolean: aBoolean,
  list: ['must be a list', Array.isArray],
  map: ['must be an object', isObject],
  one: ['must be an object', isObject],
  oneOrBoolean: [
    'must be an object, true or false',
    (value) => isObject(value) || typeof value === 'boolean',
  ],
};

export class Bundler {
  readonly references: Json[] = [];
  readonly #visited = new Map<object, Kind>();
  readonly #inlining = new Set<object>();
  readonly #nesting = new Nesting();
  readonly #sources: Sources;
  readonly #findings: Findings;
  readonly #dialect: Dialect;
  readonly #judgeField: JudgeField;
  readonly #resources: Resources | null;
  readonly #pathItems: PathItems;

  constructor(dialect: Dialect, sources: Sources, judgeField: JudgeField) {
    this.#dialect = dialect;
    this.#sources = sources;
    this.#findings = sources.findings;
    this.#judgeField = judgeField;
    this.#resources = dialect.identifiers
      ? new Resources(dialect, sources)
      : null;
    this.#pathItems = new PathItems(sources.findings, sources.places);
  }

  /** Returns the targets of dynamic references; `null` without any. */
  bundle(): Dynamics | null {
    const { root } = this.#sources;
    if ('webhooks' in root && this.#resources)
      this.#findings.note(
        root,
        'webhooks',
        'webhooks are ignored: they are requests of the service, not to it',
      );
    this.#visit(root, 'openapi');
    const home = (target: Json) => {
      const ref = this.#home(target, 'schema');
      this.#visit(target, 'schema');
      return ref;
    };
    return this.#resources?.dynamics(this.references, home) ?? null;
  }

  #visit(node: Json, kind: Kind): void {
    const known = this.#visited.get(node);
    if (known !== undefined && known !== kind) {
      this.#findings.problem(
        node,
        null,
        `cannot be a ${NAMES[known] ?? known} and a ${NAMES[kind] ?? kind} at once`,
      );
    }
    if (known !== undefined) return;
    this.#visited.set(node, kind);
    if (typeof node.$ref === 'string' && sectionOf(this.#dialect.grammar, kind))
      this.#reference(node, node.$ref, kind);
    else this.#fields(node, kind);
  }

  #fields(node: Json, kind: Kind): void {
    const { grammar, name } = this.#dialect;
    const fields = grammar[kind];
    for (const [key, value] of Object.entries(node)) {
      const field = fields[key] ?? fields['*'];
      const flaw = /^x-/i.test(key) ? this.#judgeField(key, kind) : null;
      if (flaw !== null) this.#findings[flaw.severity](node, key, flaw.message);
      if (flaw !== null || key.startsWith('x-')) continue;
      if (field) this.#field(node, key, value, field);
      else
        this.#findings.note(
          node,
          key,
          `${key} is not a field that ${name} has here: it is ignored`,
        );
    }
    if (kind === 'schema' && isObject(node.discriminator))
      this.#mapping(node.discriminator);
    if (kind === 'schema') this.#identified(node);
  }

  #identified(node: Json): void {
    if (!this.#resources) return;
    if (typeof node.$dynamicRef === 'string')
      this.#dynamic(node, node.$dynamicRef, this.#resources);
    for (const [key, other] of Object.entries(IDENTIFIERS)) {
      if (typeof node[key] !== 'string') continue;
      this.#findings.note(
        node,
        key,
        `${key} is called ${other} in the published document: references there need none`,
      );
      node[other] = node[key];
      delete node[key];
    }
  }

  /** A dynamic reference that does not name a dynamic anchor acts like `$ref`. */
  #dynamic(node: Json, ref: string, resources: Resources): void {
    const target = this.#target(node, '$dynamicRef', ref, 'schema');
    if (!target) return;
    const home = this.#home(target, 'schema');
    if (resources.isDynamic(node, target)) {
      node.$dynamicRef = home;
    } else if ('$ref' in node) {
      this.#findings.problem(
        node,
        '$dynamicRef',
        'cannot stand beside $ref unless it names a dynamic anchor',
      );
    } else {
      delete node.$dynamicRef;
      node.$ref = home;
    }
    this.references.push({ $ref: home });
    this.#follow(target, 'schema');
  }

  #field(node: Json, key: string, value: unknown, field: Field): void {
    if (field === 'foreign') this.#foreign(node, key);
    if (field === 'foreign' || field === 'any') return;
    const [complaint, test] =
      MUST_BE[typeof field === 'string' ? field : field[0]]!;
    if (!test(value)) this.#findings.problem(node, key, complaint);
    else if (typeof value === 'object') {
      for (const [holder, name, kind] of membersOf(node, key, field))
        this.#member(holder, name, kind);
    }
  }

  #foreign(node: Json, key: string): void {
    const { name } = this.#dialect;
    this.#findings.problem(
      node,
      key,
      `${key} of ${name} is not supported: requests or answers of it cannot be checked`,
    );
  }

  #member(parent: Json, key: string, kind: Kind): void {
    const value = parent[key];
    if (!isObject(value))
      this.#findings.problem(parent, key, 'must be an object');
    else if (
      (kind === 'pathItem' || kind === 'operation') &&
      isReference(value)
    )
      this.#inline(parent, key, value, kind);
    else this.#visit(value, kind);
  }

  #reference(node: Json, ref: string, kind: Kind): void {
    const means = kind === 'schema' && this.#resources !== null;
    if (!means) this.#noteBeside(node, `, as ${this.#dialect.name} says`);
    // Without a readable scheme, a server would not know which headers carry keys.
    const severity = kind === 'securityScheme' ? 'refuse' : 'problem';
    const target = this.#target(node, '$ref', ref, kind, severity);
    if (means) {
      for (const [key, message] of this.#dialect.notes(node, {}))
        this.#findings.note(node, key, message);
      this.#fields(node, kind);
    }
    if (!target) return;
    node.$ref = this.#home(target, kind);
    this.references.push(node);
    this.#follow(target, kind);
  }

  #noteBeside(reference: Json, reason: string): void {
    for (const key of Object.keys(reference)) {
      if (HARMLESS.has(key) || key.startsWith('x-')) continue;
      this.#findings.note(
        reference,
        key,
        `${key} beside $ref is ignored${reason}`,
      );
    }
  }

  /** `components` has no section for these. */
  #inline(
    parent: Json,
    key: string,
    node: Json,
    kind: 'pathItem' | 'operation',
  ): void {
    const target =
      kind === 'pathItem'
        ? this.#pathItem(parent, node)
        : this.#target(node, '$ref', String(node.$ref), kind);
    if (!target) return;
    if (kind === 'operation') this.#noteBeside(node, '');
    if (this.#inlining.has(target)) {
      const what = kind === 'operation' ? 'an operation' : 'a path item';
      this.#findings.problem(node, '$ref', `${what} must not contain itself`);
      return;
    }
    this.#inlining.add(target);
    if (kind === 'pathItem' && this.#sources.holds(target))
      node.$ref = this.#home(target, kind);
    else parent[key] = target;
    if (kind === 'operation') this.#member(parent, key, kind);
    else this.#visit(target, kind);
    this.#inlining.delete(target);
  }

  /**
   * Nothing is known about the operations of a path item that cannot be read: requests to them
   * would get 404.
   */
  #pathItem(parent: Json, node: Json): Json | null {
    const severity: Severity =
      parent === this.#sources.root.paths ? 'refuse' : 'problem';
    return this.#pathItems.read(
      node,
      (reference) =>
        this.#target(
          reference,
          '$ref',
          String(reference.$ref),
          'pathItem',
          severity,
        ),
      (reference) =>
        this.#findings[severity](
          reference,
          '$ref',
          'a path item must not contain itself',
        ),
    );
  }

  /** OpenAPI 3.0.3, Discriminator Object. */
  #mapping({ mapping }: Json): void {
    if (!isObject(mapping)) return;
    for (const [value, ref] of Object.entries(mapping)) {
      const target =
        typeof ref === 'string'
          ? (this.#named(ref) ?? this.#target(mapping, value, ref, null))
          : null;
      if (target) {
        mapping[value] = this.#home(target, 'schema');
        this.#follow(target, 'schema');
      } else if (typeof ref !== 'string') {
        this.#findings.problem(mapping, value, 'must be a string');
      }
    }
  }

  #home(target: Json, kind: Kind): string {
    return this.#sources.home(target, sectionOf(this.#dialect.grammar, kind)!);
  }

  #follow(target: Json, kind: Kind): void {
    this.#nesting.run(() => this.#visit(target, kind));
  }

  #named(name: string): Json | null {
    const target = follow(
      this.#sources.root,
      `/components/schemas/${escapeToken(name)}`,
    );
    return isObject(target) ? target : null;
  }

  #target(
    node: Json,
    key: string,
    ref: string,
    kind: Kind | null,
    severity: Severity = 'problem',
  ): Json | null {
    const file = this.#sources.places.fileOf(node);
    const known =
      kind === 'schema' ? this.#resources?.find(ref, node, file) : undefined;
    const target = known === undefined ? this.#sources.find(ref, file) : known;
    if (isObject(target)) {
      this.#resources?.add(target, kind ?? 'schema');
      return target;
    }
    if (target !== null) this.#findings[severity](node, key, target);
    return null;
  }
}
