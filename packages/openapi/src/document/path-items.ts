import type { Findings } from '../findings.ts';
import type { Places } from './places.ts';
import { isReference, type Json } from './source.ts';

/**
 * Beside a reference they replace the field of the path item, because no request depends on them.
 */
const REPLACES = new Set(['summary', 'description']);

/**
 * OpenAPI leaves open what fields beside the `$ref` of a path item mean. Other tools merge them
 * into the path item.
 */
export class PathItems {
  readonly #merged = new Map<Json, Json>();
  readonly #open = new Set<Json>();
  readonly #findings: Findings;
  readonly #places: Places;

  constructor(findings: Findings, places: Places) {
    this.#findings = findings;
    this.#places = places;
  }

  /**
   * Follows references to the end. `find` reports a reference that leads nowhere and then returns
   * `null`, `circle` reports a path item that contains itself.
   */
  read(
    node: Json,
    find: (reference: Json) => Json | null,
    circle: (reference: Json) => void,
  ): Json | null {
    if (!isReference(node)) return node;
    const known = this.#merged.get(node);
    if (known) return known;
    if (this.#open.has(node)) {
      circle(node);
      return null;
    }
    this.#open.add(node);
    const target = find(node);
    const item = target && this.read(target, find, circle);
    this.#open.delete(node);
    if (!item) return null;
    const result = this.#merge(node, item);
    this.#merged.set(node, result);
    return result;
  }

  #merge(reference: Json, item: Json): Json {
    const { $ref: _, ...beside } = reference;
    const names = Object.keys(beside);
    if (names.length === 0) return item;
    const merged = { ...item, ...beside };
    this.#places.join(merged, [reference, item]);
    for (const name of names) {
      if (
        item[name] === undefined ||
        REPLACES.has(name) ||
        name.startsWith('x-')
      )
        continue;
      const where = this.#places.of(item, name, '');
      const message = `${name} is in the referenced path item too (${where.file}:${where.place}): remove one of them`;
      this.#findings.problem(merged, name, message);
    }
    return merged;
  }
}
