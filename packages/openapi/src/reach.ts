import type { Document } from './document/document.ts';
import { isObject, type Json } from './document/source.ts';

interface Unit {
  readonly wanted: readonly object[];
  readonly targets: readonly object[];
}

export class Reach {
  readonly #document: Document;
  readonly #wanted: ReadonlySet<object>;
  readonly #units = new Map<object, Unit>();

  constructor(document: Document, wanted: ReadonlySet<object>) {
    this.#document = document;
    this.#wanted = wanted;
  }

  from(parts: readonly unknown[]): ReadonlySet<object> {
    const found = new Set<object>();
    const units = new Set(parts.filter(isAnObject));
    for (const part of units) {
      const { wanted, targets } = this.#unit(part);
      for (const one of wanted) found.add(one);
      for (const target of targets) units.add(target);
    }
    return found;
  }

  #unit(root: object): Unit {
    const known = this.#units.get(root);
    if (known) return known;
    const unit = { wanted: [] as object[], targets: [] as object[] };
    const inside = new Set([root]);
    for (const node of inside) {
      if (this.#wanted.has(node)) unit.wanted.push(node);
      for (const value of Object.values(node)) if (isAnObject(value)) inside.add(value);
      if (isObject(node)) unit.targets.push(...this.#targets(node));
    }
    this.#units.set(root, unit);
    return unit;
  }

  #targets(node: Json): Json[] {
    const refs = [node.$ref, node.$dynamicRef].filter(isText);
    return refs.map((ref) => this.#document.target(ref)).filter((target) => target !== null);
  }
}

const isAnObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

const isText = (value: unknown): value is string => typeof value === 'string';
