/**
 * A form of a JSON value in which equal values are equal for a Set: arrays and objects are a text that no JSON string can
 * be. Numbers that were sent have one form only (see `exact`); those of a contract may be floats where bigints would do.
 */
export function canonical(value: unknown): unknown {
  if (typeof value === 'object' && value !== null) return `\u0000${text(value)}`;
  const large = typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value);
  return large ? BigInt(value) : value;
}

function text(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(text).join()}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}:${text(member)}`);
    return `{${members.sort().join()}}`;
  }
  return typeof value === 'string' ? JSON.stringify(value) : String(canonical(value));
}

/** Whether no value is in the array twice. Takes linear time, where comparing each with each would not. */
export function allDifferent(array: readonly unknown[]): boolean {
  const seen = new Set<unknown>();
  for (const value of array) seen.add(canonical(value));
  return seen.size === array.length;
}
