import {
  aBoolean,
  aText,
  type Dialect,
  type KeywordValues,
} from '../dialect/dialect.ts';
import {
  type Field,
  fieldOf,
  type Kind,
  membersOf,
  sectionOf,
} from '../dialect/grammar.ts';
import { escapeToken } from '../names.ts';
import { createNesting } from '../nesting.ts';
import { createResources, type Dynamics, type Resources } from './resources.ts';
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

type Severity = 'problem' | 'refuse' | 'note';

/** Beside the reference of a path item they replace its field: no request depends on them. */
const REPLACES = new Set(['summary', 'description']);

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

interface Bundle {
  readonly references: readonly Json[];
  /** The targets of dynamic references; `null` without any. */
  readonly dynamics: Dynamics | null;
}

/** Reports mistakes in the form of all objects, and makes every reference local. */
export function bundle(
  dialect: Dialect,
  sources: Sources,
  judgeField: JudgeField,
): Bundle {
  const { root, findings, places } = sources;
  const { grammar } = dialect;
  const resources = dialect.identifiers
    ? createResources(dialect, sources)
    : null;
  const references: Json[] = [];
  const visited = new Map<object, Kind>();
  const inlining = new Set<object>();
  const nest = createNesting();
  const merged = new Map<Json, Json>();
  const merging = new Set<Json>();

  function visit(node: Json, kind: Kind): void {
    const cached = visited.get(node);
    if (cached !== undefined && cached !== kind) {
      findings.problem(
        node,
        null,
        `cannot be a ${NAMES[cached] ?? cached} and a ${NAMES[kind] ?? kind} at once`,
      );
    }
    if (cached !== undefined) return;
    visited.set(node, kind);
    if (typeof node.$ref === 'string' && sectionOf(grammar, kind))
      reference(node, node.$ref, kind);
    else fields(node, kind);
  }

  function fields(node: Json, kind: Kind): void {
    for (const [key, value] of Object.entries(node)) {
      const field = fieldOf(grammar, kind, key);
      const flaw = /^x-/i.test(key) ? judgeField(key, kind) : null;
      if (flaw !== null) findings[flaw.severity](node, key, flaw.message);
      if (flaw !== null || key.startsWith('x-')) continue;
      if (field) checkField(node, key, value, field);
      else
        findings.note(
          node,
          key,
          `${key} is not a field that ${dialect.name} has here: it is ignored`,
        );
    }
    if (kind !== 'schema') return;
    if (isObject(node.discriminator)) readMapping(node.discriminator);
    if (resources) identified(node, resources);
  }

  function identified(node: Json, resources: Resources): void {
    if (typeof node.$dynamicRef === 'string')
      dynamicReference(node, node.$dynamicRef, resources);
    for (const [key, other] of Object.entries(IDENTIFIERS)) {
      if (typeof node[key] !== 'string') continue;
      findings.note(
        node,
        key,
        `${key} is called ${other} in the published document: references there need none`,
      );
      node[other] = node[key];
      delete node[key];
    }
  }

  /** A dynamic reference that does not name a dynamic anchor acts like `$ref`. */
  function dynamicReference(
    node: Json,
    ref: string,
    resources: Resources,
  ): void {
    const target = targetOf(node, '$dynamicRef', ref, 'schema');
    if (!target) return;
    const home = homeOf(target, 'schema');
    if (resources.isDynamic(node, target)) {
      node.$dynamicRef = home;
    } else if ('$ref' in node) {
      findings.problem(
        node,
        '$dynamicRef',
        'cannot stand beside $ref unless it names a dynamic anchor',
      );
    } else {
      delete node.$dynamicRef;
      node.$ref = home;
    }
    references.push({ $ref: home });
    nest(() => visit(target, 'schema'));
  }

  function checkField(
    node: Json,
    key: string,
    value: unknown,
    field: Field,
  ): void {
    if (field === 'any') return;
    if (field === 'foreign') {
      findings.problem(
        node,
        key,
        `${key} of ${dialect.name} is not supported: requests or responses of it cannot be checked`,
      );
      return;
    }
    const [complaint, test] =
      MUST_BE[typeof field === 'string' ? field : field[0]]!;
    if (!test(value)) findings.problem(node, key, complaint);
    else if (typeof value === 'object') {
      for (const [holder, name, kind] of membersOf(node, key, field))
        member(holder, name, kind);
    }
  }

  function member(parent: Json, key: string, kind: Kind): void {
    const value = parent[key];
    if (!isObject(value)) findings.problem(parent, key, 'must be an object');
    else if (
      (kind === 'pathItem' || kind === 'operation') &&
      isReference(value)
    )
      inline(parent, key, value, kind);
    else visit(value, kind);
  }

  function reference(node: Json, ref: string, kind: Kind): void {
    const means = kind === 'schema' && resources !== null;
    if (!means) noteBeside(node, `, as ${dialect.name} says`);
    // Without a readable scheme, a server would not know which headers carry keys.
    const severity = kind === 'securityScheme' ? 'refuse' : 'problem';
    const target = targetOf(node, '$ref', ref, kind, severity);
    if (means) {
      for (const [key, message] of dialect.notes(node, {}))
        findings.note(node, key, message);
      fields(node, kind);
    }
    if (!target) return;
    node.$ref = homeOf(target, kind);
    references.push(node);
    nest(() => visit(target, kind));
  }

  function noteBeside(node: Json, reason: string): void {
    for (const key of Object.keys(node)) {
      if (HARMLESS.has(key) || key.startsWith('x-')) continue;
      findings.note(node, key, `${key} beside $ref is ignored${reason}`);
    }
  }

  /** `components` has no section for these. */
  function inline(
    parent: Json,
    key: string,
    node: Json,
    kind: 'pathItem' | 'operation',
  ): void {
    // Nothing is known about the operations of a path item that cannot be read: requests to them
    // would get 404.
    const severity = parent === root.paths ? 'refuse' : 'problem';
    const target =
      kind === 'pathItem'
        ? pathItem(node, severity)
        : targetOf(node, '$ref', String(node.$ref), kind);
    if (!target) return;
    if (kind === 'operation') noteBeside(node, '');
    if (inlining.has(target)) {
      const what = kind === 'operation' ? 'an operation' : 'a path item';
      findings.problem(node, '$ref', `${what} must not contain itself`);
      return;
    }
    inlining.add(target);
    if (kind === 'pathItem' && sources.holds(target))
      node.$ref = homeOf(target, kind);
    else parent[key] = target;
    if (kind === 'operation') member(parent, key, kind);
    else visit(target, kind);
    inlining.delete(target);
  }

  /** Follows references to the end. */
  function pathItem(node: Json, severity: Severity): Json | null {
    if (!isReference(node)) return node;
    const cached = merged.get(node);
    if (cached) return cached;
    if (merging.has(node)) {
      findings[severity](node, '$ref', 'a path item must not contain itself');
      return null;
    }
    merging.add(node);
    const target = targetOf(
      node,
      '$ref',
      String(node.$ref),
      'pathItem',
      severity,
    );
    const item = target && pathItem(target, severity);
    merging.delete(node);
    if (!item) return null;
    const result = merge(node, item);
    merged.set(node, result);
    return result;
  }

  /**
   * OpenAPI leaves open what fields beside the `$ref` of a path item mean. Other tools merge them
   * into the path item.
   */
  function merge(node: Json, item: Json): Json {
    const { $ref: _, ...beside } = node;
    const names = Object.keys(beside);
    if (names.length === 0) return item;
    const result = { ...item, ...beside };
    places.join(result, [node, item]);
    for (const name of names) {
      if (
        item[name] === undefined ||
        REPLACES.has(name) ||
        name.startsWith('x-')
      )
        continue;
      const where = places.of(item, name, '');
      const message = `${name} is in the referenced path item too (${where.file}:${where.place}): remove one of them`;
      findings.problem(result, name, message);
    }
    return result;
  }

  /**
   * OpenAPI 3.0.3, Discriminator Object. A value that leads to nothing selects nothing: alternatives
   * decide without it.
   */
  function readMapping({ mapping }: Json): void {
    if (!isObject(mapping)) return;
    for (const [value, ref] of Object.entries(mapping)) {
      if (typeof ref !== 'string') {
        findings.problem(mapping, value, 'must be a string');
        continue;
      }
      const named = follow(root, `/components/schemas/${escapeToken(ref)}`);
      const target = isObject(named)
        ? named
        : targetOf(mapping, value, ref, null, 'note');
      if (!target) continue;
      mapping[value] = homeOf(target, 'schema');
      nest(() => visit(target, 'schema'));
    }
  }

  const homeOf = (target: Json, kind: Kind) =>
    sources.home(target, sectionOf(grammar, kind)!);

  function targetOf(
    node: Json,
    key: string,
    ref: string,
    kind: Kind | null,
    severity: Severity = 'problem',
  ): Json | null {
    const file = places.fileOf(node);
    const cached =
      kind === 'schema' ? resources?.find(ref, node, file) : undefined;
    const target = cached === undefined ? sources.find(ref, file) : cached;
    if (isObject(target)) {
      resources?.add(target, kind ?? 'schema');
      return target;
    }
    if (target !== null) findings[severity](node, key, target);
    return null;
  }

  if ('webhooks' in root && resources)
    findings.note(
      root,
      'webhooks',
      'webhooks are ignored: they are requests of the service, not to it',
    );
  visit(root, 'openapi');
  const dynamics = resources?.dynamics(references, (target) => {
    const ref = homeOf(target, 'schema');
    visit(target, 'schema');
    return ref;
  });
  return { references, dynamics: dynamics ?? null };
}
