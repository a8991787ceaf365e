import { createHash } from 'node:crypto';
import type { Kind } from './dialect/grammar.ts';
import type { Document } from './document/document.ts';
import { type Json, objectsIn } from './document/source.ts';
import { toJson } from './exact-json.ts';
import type { Description } from './operations.ts';
import type { Definitions } from './schema/definitions.ts';
import type { ContractFacts } from './types.ts';

export interface Compiled<Fields = unknown, Shared = unknown>
  extends ContractFacts {
  readonly operations: readonly (Description & Fields)[];
  readonly shared: Shared;
  readonly document: Document;
  readonly definitions: Definitions;
}

export const fingerprintOf = (text: string | Uint8Array): string =>
  createHash('sha256').update(text).digest('base64');

/** Of all members and parameters, and of header parameters alone. */
export function namesIn(document: Document) {
  const [names, headerNames] = [new Set<string>(), new Set<string>()];
  for (const [node, kind] of document.reach(document.root, 'openapi')) {
    if (kind === 'schema')
      for (const [name] of document.members(node.properties)) names.add(name);
    if (kind !== 'parameter' || typeof node.name !== 'string') continue;
    names.add(node.name);
    if (node.in === 'header') headerNames.add(node.name);
  }
  return { names, headerNames };
}

interface Part {
  readonly text: string;
  readonly references: ReadonlyMap<string, Kind>;
}

/** By operation id, including everything that the operation refers to. Descriptions count. */
export function digestsOf(
  operations: readonly Description[],
  document: Document,
): ReadonlyMap<string, string> {
  const parts = new Map<string, Part | null>();
  const { security, servers } = document.root;
  const dynamic = (document.dynamics?.anchors ?? []).flatMap((anchors) =>
    [...anchors.values()].map((pointer) => `#${encodeURI(pointer)}`),
  );

  function partAt(name: string, kind: Kind): Part | null {
    let part = parts.get(name);
    if (part === undefined) {
      const target = document.target(name);
      part = target && partOf(target, [[target, kind]]);
      parts.set(name, part);
    }
    return part;
  }

  /** A dynamic reference may lead to each of its targets. */
  function partOf(
    value: unknown,
    nodes: readonly (readonly [Json, Kind])[],
  ): Part {
    const references = new Map<string, Kind>();
    for (const [node, kind] of nodes.flatMap(([node, kind]) => [
      ...document.inside(node, kind),
    ])) {
      for (const ref of document.referencesOf(node, kind))
        references.set(ref, kind);
      if (kind === 'schema' && '$dynamicRef' in node)
        for (const ref of dynamic) references.set(ref, kind);
    }
    return { text: fingerprintOf(toJson(value)), references };
  }

  function digestOf({ path, method }: Description): string {
    const item = document.object((document.root.paths as Json)[path]) ?? {};
    const { parameters, servers: ofPath } = item;
    const node = item[method.toLowerCase()] as Json;
    const own = partOf(
      [path, method, node, parameters, ofPath, security, servers],
      [
        [node, 'operation'],
        ...objectsIn(parameters).map((one) => [one, 'parameter'] as const),
      ],
    );
    const reached = new Map(own.references);
    const texts = [own.text];
    // The map grows during the loop.
    for (const [name, kind] of reached) {
      const part = partAt(name, kind);
      if (part === null) continue;
      texts.push(name, part.text);
      for (const [more, of] of part.references)
        if (!reached.has(more)) reached.set(more, of);
    }
    return fingerprintOf(texts.join('\n'));
  }

  return new Map(
    operations.map((operation) => [operation.id, digestOf(operation)]),
  );
}
