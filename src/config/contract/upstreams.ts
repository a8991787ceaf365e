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
const FORM =
  'must be the name of an upstream: 1 to 32 small letters, digits and hyphens that begin with a letter';

/**
 * The operation takes precedence over its path, and the path over tags. Mistakes are never
 * tolerated: requests would go to the wrong backends.
 */
export function readUpstreams(document: Document, findings: Findings) {
  const { root } = document;
  const named = objectsIn(root.tags).map(
    (tag) => [tag.name, nameOf(tag)] as const,
  );
  const byTag = new Map<unknown, string | null>(
    named.filter(([, name]) => name !== null),
  );

  function nameOf(node: Json): string | null {
    const name = node[UPSTREAM];
    if (name === undefined) return null;
    if (typeof name === 'string' && NAME.test(name)) return name;
    const flaw =
      typeof name === 'string'
        ? `${shown(name)} is not an upstream name: it ${FORM}`
        : FORM;
    findings.refuse(node, UPSTREAM, flaw);
    return null;
  }

  return ({ path, tags }: Description, node: Json): string | null => {
    // A path item may be behind a reference.
    const written = (root.paths as Json)[path];
    const items = new Set([written, document.object(written)])
      .values()
      .filter(isObject);
    const ofItem = items.map(nameOf).find((name) => name !== null) ?? null;
    const decided = nameOf(node) ?? ofItem;
    const named = [...new Set(tags.flatMap((tag) => byTag.get(tag) ?? []))];
    if (decided === null && named.length > 1)
      findings.refuse(
        node,
        'tags',
        `have the upstreams ${named.join(' and ')}: ${UPSTREAM} on the operation must name one`,
      );
    return decided ?? named[0] ?? null;
  };
}
