import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isSeq,
  type Node,
} from 'yaml';

/** The nodes that all aliases of a file may add together. */
const MAX_ALIASED_NODES = 500_000;

/** An error that follows the name of a file. */
export const TOO_MANY_NODES = `aliases (*) must not add more than ${MAX_ALIASED_NODES} values`;

export interface Aliases {
  /** The node of the last anchor of the same name before the alias. */
  readonly targets: ReadonlyMap<Alias, Node>;
  /** Lists and maps inside each other, in nodes with an anchor. */
  readonly depths: ReadonlyMap<Node, number>;
  /** The first alias at which the aliases add too many nodes. */
  readonly excess: Alias | null;
}

/**
 * Aliases of aliases multiply, so a few lines could become gigabytes. The nodes are counted here
 * without expanding them: the time grows with the text alone.
 */
export function readAliases({
  contents,
}: Pick<Document.Parsed, 'contents'>): Aliases {
  const anchors = new Map<string, Node>();
  const targets = new Map<Alias, Node>();
  const sizes = new Map<Node, number>();
  const depths = new Map<Node, number>();
  let added = 0;
  /** Of the last node. */
  let depth = 0;
  let excess: Alias | null = null;

  function sizeOf(node: unknown): number {
    if (isAlias(node)) return sizeOfTarget(node);
    const { anchor } = Object(node) as { readonly anchor?: string };
    if (anchor !== undefined) anchors.set(anchor, node as Node);
    let size = 1;
    let deepest = 0;
    const add = (part: unknown) => {
      size += sizeOf(part);
      deepest = Math.max(deepest, depth);
    };
    if (isSeq(node)) for (const item of node.items) add(item);
    if (isMap(node))
      for (const { key, value } of node.items) {
        add(key);
        add(value);
      }
    depth = isSeq(node) || isMap(node) ? deepest + 1 : 0;
    if (anchor !== undefined) {
      sizes.set(node as Node, size);
      depths.set(node as Node, depth);
    }
    return size;
  }

  function sizeOfTarget(alias: Alias): number {
    const target = anchors.get(alias.source);
    depth = 0;
    if (target === undefined) return 1;
    targets.set(alias, target);
    // A node that contains itself has no size yet.
    const size = sizes.get(target) ?? 1;
    depth = depths.get(target) ?? 0;
    added += size;
    if (added > MAX_ALIASED_NODES) excess ??= alias;
    return size;
  }

  sizeOf(contents);
  return { targets, depths, excess };
}
