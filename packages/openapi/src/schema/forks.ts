import type { Translated } from './definitions.ts';

const APART = ['properties', 'additionalProperties', 'items', 'prefixItems'] as const;
const ONE = ['not', 'if', 'then', 'else', 'holds'] as const;
const MANY = ['allOf', 'anyOf', 'oneOf', 'dependentSchemas', 'patternProperties'] as const;

/**
 * Whether definitions may check the same value more than once because of a schema. Which definitions does not matter:
 * few schemas fork.
 */
export function forks(schema: Translated): boolean {
  const parts = new Set<object>([schema]);
  for (const part of parts) {
    if ('leftMembers' in part || 'leftEntries' in part || waysOf(part as Translated) > 1) return true;
    for (const inner of Object.values(part)) if (isObject(inner)) parts.add(inner);
  }
  return false;
}

function waysOf(schema: Translated): number {
  const ways = [
    isReference(schema) ? { refers: schema.refers } : null,
    APART.map((keyword) => schema[keyword]),
    ...ONE.map((keyword) => schema[keyword]),
    ...MANY.flatMap((keyword) => Object.values(schema[keyword] ?? {})),
  ];
  return ways.filter((way) => isObject(way) && leads(way)).length;
}

function leads(schema: object): boolean {
  const parts = new Set([schema]);
  for (const part of parts) {
    if (isReference(part as Translated)) return true;
    for (const inner of Object.values(part)) if (isObject(inner)) parts.add(inner);
  }
  return false;
}

const isReference = ({ refers }: Translated): boolean => typeof refers === 'string' || Array.isArray(refers);

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
