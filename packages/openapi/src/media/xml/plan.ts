import type { Document } from '../../document/document.ts';
import { isObject, type Json } from '../../document/source.ts';
import { formOf, type Shape, shapeOf } from '../../parameters/shape.ts';
import type { Form } from '../../parameters/styles.ts';
import type { Steps } from '../../slices.ts';

export interface Naming {
  readonly local: string | null;
  readonly namespace: string | undefined;
  readonly prefix: string | undefined;
}

export interface Member {
  readonly property: string;
  readonly naming: Naming;
  readonly attribute: boolean;
  readonly repeated: boolean;
  readonly schema: Json;
}

/** OpenAPI 3.0.3, XML Object. */
export interface Plan {
  readonly kind: Form | 'any';
  readonly shape: Shape;
  readonly naming: Naming;
  readonly members: readonly Member[];
  /** By name without prefix. */
  readonly byName: ReadonlyMap<string, readonly Member[]>;
  readonly properties: ReadonlySet<string>;
  /** An empty list has no elements. */
  readonly always: readonly string[];
  /** `null` if they are forbidden. */
  readonly others: Json | null;
  readonly items: Json;
  /** Why it cannot be checked, for itself or a property; `null` if it can. */
  readonly flaw: string | null;
}

const NOTHING: Json = {};

export class Plans {
  readonly #document: Document;
  readonly #plans = new Map<Json, Plan>();
  readonly #good = new Set<Plan>();

  constructor(document: Document) {
    this.#document = document;
  }

  of(schema: Json): Plan {
    const node = this.#document.object(schema) ?? schema;
    const plan = this.#plans.get(node) ?? this.#make(node);
    this.#plans.set(node, plan);
    return plan;
  }

  #isMade(schema: Json): boolean {
    return this.#plans.has(this.#document.object(schema) ?? schema);
  }

  /** Why XML cannot express the values; `null` if it can. */
  complaint(schema: Json): string | null {
    const search = this.search(schema);
    let step = search.next();
    while (!step.done) step = search.next();
    return step.value;
  }

  *search(schema: Json): Steps<string | null> {
    const reached = new Set([this.of(schema)]);
    for (const plan of reached) {
      if (this.#good.has(plan)) continue;
      yield;
      const { members, others, items, flaw } = plan;
      if (flaw !== null) return flaw;
      for (const member of members) {
        if (!this.#isMade(member.schema)) yield;
        const { kind } = this.of(member.schema);
        const complex =
          member.repeated || kind === 'object' || kind === 'array';
        if (member.attribute && complex)
          return `${member.property} is an attribute, but an object or a list`;
        if (member.repeated && kind === 'array')
          return `${member.property} is a list of lists without their own elements`;
        reached.add(this.of(member.schema));
      }
      reached.add(this.of(others ?? NOTHING)).add(this.of(items));
    }
    for (const plan of reached) this.#good.add(plan);
    return null;
  }

  #make(node: Json): Plan {
    const shape = shapeOf(this.#document, node);
    const { required } = shape;
    const flaws = [this.#formOf(shape).flaw];
    const members = [...shape.members].map(([property, member]): Member => {
      const { isList, wrapped, attribute, flaw } = this.#formOf(member);
      flaws.push(flaw);
      const repeated = isList && !wrapped;
      const { schema } = repeated ? member.items : member;
      const naming = namingOf(this.#object(schema), property);
      return {
        property,
        attribute,
        repeated,
        naming,
        schema: schema ?? NOTHING,
      };
    });
    const lists = members.filter(
      ({ repeated, property }) => repeated && required.has(property),
    );
    return {
      kind: kindOf(shape),
      shape,
      naming: namingOf(node, null),
      members,
      byName: Map.groupBy(members, ({ naming }) => naming.local!),
      properties: new Set(shape.members.keys()),
      always: lists.map(({ property }) => property),
      others: shape.others && (shape.others.schema ?? NOTHING),
      items: shape.items.schema ?? NOTHING,
      flaw: flaws.find((flaw) => flaw !== null) ?? null,
    };
  }

  #formOf(shape: Shape) {
    const isList = kindOf(shape) === 'array';
    return {
      isList,
      ...xmlFormOf(this.#document, this.#object(shape.schema), isList),
    };
  }

  #object(schema: Json | null): Json {
    return this.#document.object(schema) ?? NOTHING;
  }
}

const kindOf = (shape: Shape) => (shape.types === null ? 'any' : formOf(shape));

/** JAXB writes `##default` for an unspecified name. */
function namingOf({ xml }: Json, fallback: string | null): Naming {
  const { name, namespace, prefix } = isObject(xml) ? xml : {};
  return {
    local: typeof name === 'string' && name !== '##default' ? name : fallback,
    namespace:
      typeof namespace === 'string' && namespace !== '##default'
        ? namespace
        : undefined,
    prefix: typeof prefix === 'string' && prefix !== '' ? prefix : undefined,
  };
}

interface XmlForm {
  readonly attribute: boolean;
  readonly wrapped: boolean;
  /** Why the value cannot be checked; `null` if it can. */
  readonly flaw: string | null;
}

const NODE_TYPES: readonly unknown[] = [
  'element',
  'attribute',
  'text',
  'cdata',
  'none',
];

/** `nodeType` of OpenAPI 3.2 takes the place of `attribute` and `wrapped`. */
function xmlFormOf(
  { dialect, findings }: Document,
  schema: Json,
  isList: boolean,
): XmlForm {
  const xml = isObject(schema.xml) ? schema.xml : {};
  const { nodeType } = xml;
  const plain = {
    attribute: xml.attribute === true,
    wrapped: xml.wrapped === true,
    flaw: null,
  };
  if (nodeType === undefined) return plain;
  if (!dialect.xmlNodeTypes) {
    findings.note(
      xml,
      'nodeType',
      `nodeType is not a field that ${dialect.name} has here: it is ignored`,
    );
    return plain;
  }
  return {
    attribute: nodeType === 'attribute',
    wrapped: nodeType === 'element',
    flaw: flawOf(xml, isList),
  };
}

function flawOf(
  { nodeType, attribute, wrapped }: Json,
  isList: boolean,
): string | null {
  if (!NODE_TYPES.includes(nodeType))
    return 'xml.nodeType must be element, attribute, text, cdata or none';
  if (attribute !== undefined || wrapped !== undefined)
    return 'xml.nodeType must not stand beside attribute or wrapped (OpenAPI 3.2, XML Object)';
  const isSupported =
    nodeType === 'element' || nodeType === (isList ? 'none' : 'attribute');
  return isSupported ? null : `xml.nodeType ${nodeType} is not supported`;
}
