import { invalidRequest } from './errors.ts';

/** The characters of the longest int64, -9223372036854775808. A longer literal is no identifier; it stays a number. */
const longestInt64 = 20;
const integerLiteral = /^-?\d+$/;

/**
 * Reads JSON (RFC 8259) in UTF-8 without losing a digit: integers become `bigint`, other numbers `number`.
 * @throws StoreError `invalid_request` if the bytes are not JSON.
 */
export function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes), exactIntegers);
  } catch {
    // Every error of the decoder and the parser depends on the bytes alone, also for a nesting too deep to walk.
    throw invalidRequest([{ in: 'body', pointer: '', message: 'must be JSON in UTF-8' }]);
  }
}

/** Writes JSON in which a `bigint` is a plain number with all its digits. It leaves out `undefined` fields. */
export function toJson(value: unknown): string {
  return JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? JSON.rawJSON(String(each)) : each));
}

function exactIntegers(_key: string, value: unknown, { source }: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || source === undefined) return value;
  return source.length <= longestInt64 && integerLiteral.test(source) ? BigInt(source) : value;
}
