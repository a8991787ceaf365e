/** The writing methods of a Map throw, because freezing alone does not protect its entries. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value))
    return value;
  if (value instanceof Map) {
    for (const write of ['set', 'delete', 'clear'])
      Object.defineProperty(value, write, { value: refuse });
    for (const entry of value.values()) deepFreeze(entry);
  }
  Object.freeze(value);
  for (const inner of Object.values(value)) deepFreeze(inner);
  return value;
}

function refuse(): never {
  throw new TypeError('the configuration is read-only');
}
