import { createHash } from 'node:crypto';
import type { Document } from './document/document.ts';
import { isObject } from './document/source.ts';
import type { Description } from './operations.ts';
import type { Definitions } from './schema/definitions.ts';
import type { Exempted } from './types.ts';

export interface Compiled<Fields = unknown, Shared = unknown> {
  readonly title: string;
  readonly version: string;
  readonly operations: readonly (Description & Fields)[];
  readonly shared: Shared;
  readonly exempted: readonly Exempted[];
  /** Longest first; see `serverPaths`. */
  readonly prefixes: readonly string[];
  /** Without file texts if another process read it. */
  readonly document: Document;
  readonly definitions: Definitions;
  readonly files: ReadonlyMap<string, string>;
  readonly fingerprint: string;
  readonly digests: ReadonlyMap<string, string>;
  readonly names: ReadonlySet<string>;
}

export const fingerprintOf = (text: string | Uint8Array): string => createHash('sha256').update(text).digest('base64');

export function namesOf(document: unknown): ReadonlySet<string> {
  const names = new Set<string>();
  const walk = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    const { properties, name } = node as { properties?: unknown; name?: unknown };
    if (typeof name === 'string') names.add(name);
    if (isObject(properties)) for (const key of Object.keys(properties)) names.add(key);
    for (const value of Object.values(node)) walk(value);
  };
  walk(document);
  return names;
}
