export function typeOfValue(value: unknown): string {
  if (typeof value === 'bigint') return 'integer';
  if (Array.isArray(value)) return 'array';
  return value === null ? 'null' : typeof value;
}
