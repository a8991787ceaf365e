import type { Document } from '../../document/document.ts';
import { isObject, type Json } from '../../document/source.ts';
import {
  formOf,
  listsIn,
  type Shape,
  shapeOf,
} from '../../parameters/shape.ts';
import type { Form } from '../../parameters/styles.ts';
import type { Direction } from '../../schema/directions.ts';
import { atOnce, type Steps } from '../../slices.ts';

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

export type Plans = ReturnType<typeof createPlans>;

export function createPlans(document: Document, direction: Direction) {
  const plans = new Map<Json, Plan>();
  const good = new Set<Plan>();

  function planOf(schema: Json): Plan {
    const node = document.object(schema) ?? schema;
    const plan = plans.get(node) ?? make(node);
    plans.set(node, plan);
    return plan;
  }

  function isMade(schema: Json): boolean {
    return plans.has(document.object(schema) ?? schema);
  }

  /** Why XML cannot express the values; `null` if it can. */
  function complaint(schema: Json): string | null {
    return atOnce(search(schema));
  }

  function* search(schema: Json): Steps<string | null> {
    const reached = new Set([planOf(schema)]);
    for (const plan of reached) {
      if (good.has(plan)) continue;
      yield;
      const { members, others, items, flaw } = plan;
      if (flaw !== null) return flaw;
      for (const member of members) {
        if (!isMade(member.schema)) yield;
        const { kind } = planOf(member.schema);
        const complex =
          member.repeated || kind === 'object' || kind === 'array';
        if (member.attribute && complex)
          return `${member.property} is an attribute, but an object or a list`;
        if (member.repeated && kind === 'array')
          return `${member.property} is a list of lists without their own elements`;
        reached.add(planOf(member.schema));
      }
      reached.add(planOf(others ?? NOTHING)).add(planOf(items));
    }
    for (const plan of reached) good.add(plan);
    return null;
  }

  function make(node: Json): Plan {
    const shape = shapeOf(document, node);
    const flaws = [xmlForm(shape).flaw];
    const members = [...shape.members].map(([property, member]): Member => {
      const { isList, wrapped, attribute, flaw } = xmlForm(member);
      flaws.push(flaw);
      const repeated = isList && !wrapped;
      const { schema } = repeated ? member.items : member;
      const naming = namingOf(objectOf(schema), property);
      return {
        property,
        attribute,
        repeated,
        naming,
        schema: schema ?? NOTHING,
      };
    });
    const lists = new Set(listsIn(document, shape, direction));
    return {
      kind: kindOf(shape),
      shape,
      naming: namingOf(node, null),
      members,
      byName: Map.groupBy(members, ({ naming }) => naming.local!),
      properties: new Set(shape.members.keys()),
      always: members
        .filter(({ repeated, property }) => repeated && lists.has(property))
        .map(({ property }) => property),
      others: shape.others && (shape.others.schema ?? NOTHING),
      items: shape.items.schema ?? NOTHING,
      flaw: flaws.find((flaw) => flaw !== null) ?? null,
    };
  }

  function xmlForm(shape: Shape) {
    const isList = kindOf(shape) === 'array';
    return {
      isList,
      ...xmlFormOf(document, objectOf(shape.schema), isList),
    };
  }

  function objectOf(schema: Json | null): Json {
    return document.object(schema) ?? NOTHING;
  }

  return { of: planOf, complaint, search };
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
    return 'xml.nodeType cannot be combined with attribute or wrapped (OpenAPI 3.2, XML Object)';
  const isSupported =
    nodeType === 'element' || nodeType === (isList ? 'none' : 'attribute');
  return isSupported ? null : `xml.nodeType ${nodeType} is not supported`;
}
