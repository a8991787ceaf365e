import { createHash } from 'node:crypto';
import type { Document } from './document/document.ts';
import { isAnObject, isObject, type Json } from './document/source.ts';
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

export function namesOf(document: unknown): ReadonlySet<string> {
  const names = new Set<string>();
  const walk = (node: unknown): void => {
    if (!isAnObject(node)) return;
    const { properties, name } = node as {
      properties?: unknown;
      name?: unknown;
    };
    if (typeof name === 'string') names.add(name);
    if (isObject(properties))
      for (const key of Object.keys(properties)) names.add(key);
    for (const value of Object.values(node)) walk(value);
  };
  walk(document);
  return names;
}

interface Part {
  readonly text: string;
  readonly names: ReadonlySet<string>;
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

  function partAt(name: string): Part | null {
    let part = parts.get(name);
    if (part === undefined) {
      const target = document.target(name);
      part = target && partOf(target, dynamic);
      parts.set(name, part);
    }
    return part;
  }

  function digestOf({ path, method }: Description): string {
    const item = document.object((document.root.paths as Json)[path]) ?? {};
    const { parameters, servers: ofPath } = item;
    const own = partOf(
      [
        path,
        method,
        item[method.toLowerCase()],
        parameters,
        ofPath,
        security,
        servers,
      ],
      dynamic,
    );
    const reached = new Set(own.names);
    const texts = [own.text];
    // The set grows during the loop.
    for (const name of reached) {
      const part = partAt(name);
      if (part === null) continue;
      texts.push(name, part.text);
      for (const more of part.names) reached.add(more);
    }
    return fingerprintOf(texts.join('\n'));
  }

  return new Map(
    operations.map((operation) => [operation.id, digestOf(operation)]),
  );
}

/** `dynamic`: every possible target of a dynamic reference. */
function partOf(value: unknown, dynamic: readonly string[]): Part {
  const names = new Set<string>();
  const walk = (inner: unknown): void => {
    if (typeof inner === 'string' && inner.startsWith('#/')) names.add(inner);
    if (!isAnObject(inner)) return;
    if ('$dynamicRef' in inner) for (const name of dynamic) names.add(name);
    Object.values(inner).forEach(walk);
  };
  walk(value);
  return { text: fingerprintOf(toJson(value)), names };
}
