import { Bag } from '../../bag.ts';
import { Binary } from '../../binary.ts';
import type { Document } from '../../document/document.ts';
import type { Json } from '../../document/source.ts';
import { type Rule, refuse } from '../../faults.ts';
import type { Reading } from '../../marks.ts';
import { printablePointer } from '../../names.ts';
import { read } from '../../parameters/reading.ts';
import type { Shape } from '../../parameters/shape.ts';
import type { Direction } from '../../schema/directions.ts';
import type { Steps } from '../../slices.ts';
import { createPlans, type Naming, type Plan, type Plans } from './plan.ts';
import { readTree, type XmlElement, type XmlName } from './tree.ts';

const COMPONENT = /^#\/components\/schemas\/([^/]+)$/;

const PLANS: Readonly<Record<Direction, WeakMap<Document, Plans>>> = {
  request: new WeakMap(),
  response: new WeakMap(),
};

const INK = /[^ \t\r\n]/;

type Members = Record<string, unknown>;

/** In elements: less than a millisecond. */
const STEP = 500;

/** Returns a sentence if XML cannot express the values. */
export function createXmlReader(
  document: Document,
  { schema, binary }: Shape,
  direction: Direction,
): ((bytes: Uint8Array) => Steps<Reading>) | string {
  const plans = plansOf(document, direction);
  const node = schema && document.object(schema);
  const complaint = node ? plans.complaint(node) : null;
  if (complaint !== null) return complaint;
  if (
    !node ||
    (plans.of(node).kind === 'primitive' && node.xml === undefined)
  ) {
    return function* readText(bytes) {
      yield* readTree(bytes);
      return {
        value: binary ? new Binary(bytes) : Buffer.from(bytes).toString(),
      };
    };
  }
  const name = rootNaming(schema, plans.of(node));
  return function* readElements(bytes) {
    const root = yield* readTree(bytes);
    return { value: yield* readValue(plans, root, node, name) };
  };
}

/** For requests. */
export function* prepareXmlReader(document: Document, schema: Json): Steps {
  const node = document.object(schema);
  if (node) yield* plansOf(document, 'request').search(node);
}

function plansOf(document: Document, direction: Direction): Plans {
  const byKind = PLANS[direction];
  const plans = byKind.get(document) ?? createPlans(document, direction);
  byKind.set(document, plans);
  return plans;
}

function rootNaming(schema: Json | null, { naming }: Plan): Naming {
  const component =
    typeof schema?.$ref === 'string'
      ? COMPONENT.exec(schema.$ref)?.[1]
      : undefined;
  return { ...naming, local: naming.local ?? component ?? null };
}

function* readValue(
  plans: Plans,
  root: XmlElement,
  schema: Json,
  naming: Naming,
): Steps<unknown> {
  const way: (string | number)[] = [];
  let elements = 0;

  function fail(message: string, rule: Rule = 'style'): never {
    refuse(message, rule, printablePointer(way));
  }

  /** Leaves the way as it is if it throws. */
  function at<T>(token: string | number, read: () => T): T {
    way.push(token);
    const value = read();
    way.pop();
    return value;
  }

  function* readElement(
    element: XmlElement,
    schema: Json,
    namespace: string,
  ): Steps<unknown> {
    if (++elements % STEP === 0) yield;
    const plan = plans.of(schema);
    if (plan.kind === 'object')
      return yield* readObject(element, plan, namespace);
    if (plan.kind === 'array') return yield* readList(element, plan, namespace);
    if (plan.kind === 'any' && !isLeaf(element))
      return yield* readObject(element, plan, namespace);
    if (element.attributes.length > 0) fail('must not have attributes');
    if (element.children.length > 0)
      fail('must be text without elements in it');
    if (element.pieces > 1 || (element.pieces > 0 && element.commented)) {
      fail('has text in pieces, which readers put together differently');
    }
    return readText(element.text, plan);
  }

  function readText(text: string, { shape }: Plan): unknown {
    return read({ form: 'primitive', text }, shape, 'none');
  }

  function* readList(
    element: XmlElement,
    { items, naming }: Plan,
    namespace: string,
  ): Steps<unknown[]> {
    if (element.attributes.length > 0) fail('must not have attributes');
    if (INK.test(element.text)) fail('has text between its elements');
    const own = plans.of(items).naming;
    const atRoot = way.length === 0 && naming.local === null;
    const entry = {
      ...own,
      local: own.local ?? (atRoot ? null : element.local),
    };
    const list: unknown[] = [];
    for (const [i, child] of element.children.entries()) {
      way.push(i);
      if (!isNamed(child, entry, namespace))
        fail(`must be an element ${described(entry)}`);
      list.push(yield* readElement(child, items, inherited(entry, namespace)));
      way.pop();
    }
    return list;
  }

  function* readObject(
    element: XmlElement,
    plan: Plan,
    namespace: string,
  ): Steps<Members> {
    if (plan.kind === 'object' && INK.test(element.text))
      fail('has text between its elements');
    const value: Members = new Bag();
    for (const property of plan.always) value[property] = [];
    for (const attribute of element.attributes) {
      const member = plan.byName
        .get(attribute.local)
        ?.find((one) => one.attribute && isNamed(attribute, one.naming, ''));
      const name = member?.property ?? unknownOf(attribute, plan);
      const schema = member?.schema ?? plan.others;
      at(name, () =>
        put(
          value,
          name,
          schema ? readText(attribute.value, plans.of(schema)) : '',
        ),
      );
    }
    for (const child of element.children)
      yield* readMember(value, child, plan, namespace);
    return value;
  }

  function* readMember(
    value: Members,
    child: XmlElement,
    plan: Plan,
    namespace: string,
  ): Steps<void> {
    const member = plan.byName
      .get(child.local)
      ?.find((one) => !one.attribute && isNamed(child, one.naming, namespace));
    const name = member?.property ?? unknownOf(child, plan);
    const inner = member ? inherited(member.naming, namespace) : child.uri;
    way.push(name);
    if (member?.repeated) {
      value[name] ??= [];
      const list = value[name] as unknown[];
      way.push(list.length);
      list.push(yield* readElement(child, member.schema, inner));
      way.pop();
    } else {
      const schema = member?.schema ?? plan.others;
      const read = schema ? yield* readElement(child, schema, inner) : '';
      const free = !member && schema && plans.of(schema).kind === 'any';
      const { [name]: before } = value;
      if (!free || before === undefined) put(value, name, read);
      else if (Array.isArray(before)) before.push(read);
      else value[name] = [before, read];
    }
    way.pop();
  }

  function put(value: Members, name: string, member: unknown): void {
    if (Object.hasOwn(value, name)) fail('is given more than once', 'repeated');
    value[name] = member;
  }

  /** Must not equal a declared name, not even for readers without namespace support. */
  function unknownOf(
    { name, local }: XmlName,
    { byName, properties }: Plan,
  ): string {
    if (byName.has(local) || properties.has(local) || properties.has(name)) {
      at(name, () =>
        fail(
          'is not written as the contract says: as element or attribute, name, namespace',
        ),
      );
    }
    return name;
  }

  if (!isNamed(root, naming, ''))
    fail(`must be an element ${described(naming)}`);
  return yield* readElement(root, schema, inherited(naming, ''));
}

const isLeaf = ({ attributes, children }: XmlElement) =>
  attributes.length === 0 && children.length === 0;

/** A prefix without a namespace is a part of the name. */
function isNamed(
  { name, local, uri }: XmlName,
  naming: Naming,
  namespace: string,
): boolean {
  if (naming.local === null)
    return naming.namespace === undefined || uri === naming.namespace;
  if (naming.namespace === undefined && naming.prefix !== undefined)
    return name === `${naming.prefix}:${naming.local}`;
  return local === naming.local && uri === (naming.namespace ?? namespace);
}

/** A namespace without a prefix also applies to child elements. */
function inherited({ namespace, prefix }: Naming, outer: string): string {
  if (prefix !== undefined) return '';
  return namespace ?? outer;
}

const described = ({ local, namespace }: Naming) =>
  namespace === undefined
    ? `${local}`
    : `${local} in the namespace ${namespace}`;
