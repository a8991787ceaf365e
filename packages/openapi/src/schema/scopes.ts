import type { Document } from '../document/document.ts';
import type { Dynamics } from '../document/resources.ts';
import type { Json } from '../document/source.ts';

export type Scope = ReadonlyMap<string, string>;

const NOTHING: Scope = new Map();

/**
 * JSON Schema 2020-12 section 8.2.3.2: the outermost resource that a check passed through decides. A schema is
 * translated once for each scope, so a check itself needs none.
 */
export const firstScope = ({ dynamics }: Document): Scope => dynamics?.anchors[0] ?? NOTHING;

export function scopeIn({ dynamics }: Document, { 'x-id': id }: Json, scope: Scope): Scope {
  const resource = typeof id === 'string' ? dynamics?.ids.get(id) : undefined;
  return resource === undefined ? scope : inside(dynamics!, resource, scope);
}

export function scopeBehind(document: Document, ref: string, scope: Scope): Scope {
  const { dynamics } = document;
  if (!dynamics) return scope;
  const resources = document.way(ref).flatMap((pointer) => dynamics.targets.get(pointer) ?? []);
  return resources.reduce((outer, resource) => inside(dynamics, resource, outer), scope);
}

/** The reference that a dynamic reference means. */
export function referenceIn(document: Document, dynamicRef: string, scope: Scope): string {
  const anchor = document.target(dynamicRef)?.['x-dynamic-anchor'];
  const found = typeof anchor === 'string' ? scope.get(anchor) : undefined;
  return found === undefined ? dynamicRef : `#${encodeURI(found)}`;
}

function inside({ anchors }: Dynamics, resource: number, scope: Scope): Scope {
  const own = anchors[resource]!;
  return own.size === 0 ? scope : new Map([...own, ...scope]);
}
