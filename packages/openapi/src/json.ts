import type { JsonFault } from './fault.ts';
import type { ValueFault } from './faults.ts';
import { MISTAKE, Reader } from './json-reader.ts';
import { decodeUtf8, firstBadByte } from './utf8.ts';

export const MAX_DEPTH = 64;

export const faultOfJson = ({ offset, ...fault }: JsonFault, withOffset = false): ValueFault =>
  withOffset ? { ...fault, message: `${fault.message} (at byte ${offset})` } : fault;

export type JsonResult =
  /** `unlikeInteger`: an integer in another notation, such as `1.0`. */
  | { readonly value: unknown; readonly fault: null; readonly unlikeInteger: boolean }
  | { readonly value?: never; readonly fault: JsonFault };

/**
 * Strict (RFC 8259): UTF-8 without a byte order mark, unique names per object, nothing after the value, no unpaired
 * surrogates. Numbers are exact, see `exact` in numbers.ts.
 */
export function readJson(bytes: Uint8Array, maxDepth = MAX_DEPTH): JsonResult {
  const text = decodeUtf8(bytes);
  return text === null
    ? { fault: { pointer: '', offset: firstBadByte(bytes), message: 'is not UTF-8', rule: 'encoding' } }
    : readJsonText(text, maxDepth);
}

export function readJsonText(text: string, maxDepth = MAX_DEPTH): JsonResult {
  const reader = new Reader(text, maxDepth);
  try {
    return { value: reader.whole(), fault: null, unlikeInteger: reader.unlikeInteger };
  } catch (error) {
    if (error !== MISTAKE) throw error;
    return { fault: reader.fault() };
  }
}
