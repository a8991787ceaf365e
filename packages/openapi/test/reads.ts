import { Document } from '../src/document/document.ts';
import { createSchemas } from '../src/schema/schemas.ts';
import { ref } from './documents.ts';

/** The check of the schema `Node`. */
export function checkOf(schemas: Record<string, unknown>) {
  const document = new Document({ openapi: '3.1.0', components: { schemas } });
  return createSchemas(document).check(ref('Node'), 'request');
}

/** Counts how often parts of the value are read. */
export function counted(value: unknown, reads: { count: number }): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const inner = Object.entries(value).map(
    ([name, member]) => [name, counted(member, reads)] as const,
  );
  const copy = Array.isArray(value) ? inner.map(([, entry]) => entry) : Object.fromEntries(inner);
  return new Proxy(copy as object, {
    get(target, key) {
      reads.count++;
      return Reflect.get(target, key);
    },
  });
}

export function readsOf(check: (value: unknown) => unknown, value: unknown): number {
  const reads = { count: 0 };
  check(counted(value, reads));
  return reads.count;
}

export const numbers = (count: number) => Array.from({ length: count }, (_, i) => i);
