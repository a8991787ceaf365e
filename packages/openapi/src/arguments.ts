import { types } from 'node:util';

/** A wrong argument could be taken for a valid request: an object of headers has no `length`. */
export function demand(valid: boolean, complaint: string): asserts valid {
  if (!valid) throw new TypeError(complaint);
}

export function demandText(
  value: unknown,
  name: string,
): asserts value is string {
  if (typeof value !== 'string')
    throw new TypeError(`${name} must be a string`);
}

export function demandStatus(value: unknown): asserts value is number {
  demand(Number.isInteger(value), 'the status must be a number such as 200');
}

export function demandBytes(value: unknown): asserts value is Uint8Array {
  if (!types.isUint8Array(value))
    throw new TypeError(
      'the body must be bytes, such as a Buffer, not a parsed value',
    );
}

export function demandList(
  value: unknown,
  name: string,
): asserts value is readonly string[] {
  if (!Array.isArray(value))
    throw new TypeError(`${name} must be a list of strings`);
}
