import type { Document } from '../document/document.ts';
import type { Json } from '../document/source.ts';

export type Scope = ReadonlyMap<string, string>;

const NOTHING: Scope = new Map();

/**
 * JSON Schema 2020-12 section 8.2.3.2: the outermost resource that a check passed through decides. A schema is
 * translated once for each scope, so a check itself needs none.
 */
export class Scopes {
  readonly #document: Document;

  constructor(document: Document) {
    this.#document = document;
  }

  get first(): Scope {
    return this.#document.dynamics?.anchors[0] ?? NOTHING;
  }

  entered(schema: Json, scope: Scope): Scope {
    const { 'x-id': id } = schema;
    const resource = typeof id === 'string' ? this.#document.dynamics?.ids.get(id) : undefined;
    return resource === undefined ? scope : this.#inside(resource, scope);
  }

  behind(ref: string, scope: Scope): Scope {
    const { dynamics } = this.#document;
    if (!dynamics) return scope;
    const resources = this.#document.way(ref).flatMap((pointer) => dynamics.targets.get(pointer) ?? []);
    return resources.reduce((outer, resource) => this.#inside(resource, outer), scope);
  }

  find(dynamicRef: string, scope: Scope): string {
    const anchor = this.#document.target(dynamicRef)?.['x-dynamic-anchor'];
    const found = typeof anchor === 'string' ? scope.get(anchor) : undefined;
    return found === undefined ? dynamicRef : `#${encodeURI(found)}`;
  }

  #inside(resource: number, scope: Scope): Scope {
    const own = this.#document.dynamics!.anchors[resource]!;
    return own.size === 0 ? scope : new Map([...own, ...scope]);
  }
}
