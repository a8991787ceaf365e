import {
  type Description,
  type Document,
  type Findings,
  isObject,
  type Json,
  objectsIn,
  shown,
} from '@storegate/openapi';

/** On an operation, a path or a tag. */
export const UPSTREAM = 'x-storegate-upstream';
const NAME = /^[a-z][a-z0-9-]{0,31}$/;
const FORM = 'must be the name of an upstream: 1 to 32 small letters, digits and hyphens that begin with a letter';

/**
 * The operation takes precedence over its path, and the path over tags. Mistakes are never tolerated: requests would go
 * to the wrong backends.
 */
export class NamedUpstreams {
  readonly #document: Document;
  readonly #findings: Findings;
  readonly #byTag = new Map<string, string>();

  constructor(document: Document, findings: Findings) {
    const { root } = document;
    this.#document = document;
    this.#findings = findings;
    for (const tag of objectsIn(root.tags)) {
      const name = this.#nameOf(tag);
      if (name !== null && typeof tag.name === 'string') this.#byTag.set(tag.name, name);
    }
  }

  of({ path, tags }: Description, node: Json): string | null {
    const own = this.#nameOf(node);
    const written = (this.#document.root.paths as Json)[path];
    const item = isObject(written) ? this.#nameOf(written) : null;
    const ofItem = item ?? this.#referredItem(written);
    const named = [...new Set(tags.flatMap((tag) => this.#byTag.get(tag) ?? []))];
    const decided = own ?? ofItem;
    if (decided === null && named.length > 1)
      this.#findings.refuse(
        node,
        'tags',
        `have the upstreams ${named.join(' and ')}: ${UPSTREAM} on the operation must say which is meant`,
      );
    return decided ?? named[0] ?? null;
  }

  /** A path item may be behind a reference. */
  #referredItem(written: unknown): string | null {
    const item = this.#document.object(written);
    return item && item !== written ? this.#nameOf(item) : null;
  }

  #nameOf(node: Json): string | null {
    const name = node[UPSTREAM];
    if (name === undefined) return null;
    if (typeof name === 'string' && NAME.test(name)) return name;
    this.#findings.refuse(
      node,
      UPSTREAM,
      typeof name === 'string' ? `${shown(name)} is not an upstream name: it ${FORM}` : FORM,
    );
    return null;
  }
}
