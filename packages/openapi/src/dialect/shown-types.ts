import type { Json } from '../document/source.ts';

export function shownTypes(schema: Json): ReadonlySet<string> | null {
  const { type, enum: values, properties, patternProperties, items, prefixItems } = schema;
  if (typeof type === 'string') return new Set([type]);
  if (Array.isArray(type)) return new Set(type.length > 1 ? type.filter((one) => one !== 'null') : type);
  if ('const' in schema) return new Set([typeOfValue(schema.const)]);
  if (Array.isArray(values)) return new Set(values.map(typeOfValue));
  if (properties !== undefined || patternProperties !== undefined) return new Set(['object']);
  return items === undefined && prefixItems === undefined ? null : new Set(['array']);
}

function typeOfValue(value: unknown): string {
  if (typeof value === 'bigint') return 'integer';
  if (Array.isArray(value)) return 'array';
  return value === null ? 'null' : typeof value;
}
