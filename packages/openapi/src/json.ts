import { type JsonFault, type JsonResult, Unreadable } from './faults.ts';
import { Reader } from './json-reader.ts';
import { isShort } from './json-scalars.ts';
import { decodeUtf8, firstBadByte } from './utf8.ts';

export const MAX_DEPTH = 64;

/** In characters: less than a millisecond. */
const STEP = 8 * 1024;

/** @throws Unreadable */
export function readingOf(
  result: JsonResult,
  withOffset = false,
): Exclude<JsonResult, { fault: JsonFault }> {
  if (result.fault === null) return result;
  const { offset, ...fault } = result.fault;
  throw new Unreadable(
    withOffset ? { ...fault, message: `${fault.message} (at byte ${offset})` } : fault,
  );
}

/**
 * Strict (RFC 8259): UTF-8 without a byte order mark, unique names per object, nothing after the
 * value, no unpaired surrogates. Numbers are exact, see `exact` in numbers.ts.
 */
export function readJson(bytes: Uint8Array, maxDepth?: number): JsonResult {
  const text = decodeUtf8(bytes);
  return text === null ? notUtf8(bytes) : readJsonText(text, maxDepth);
}

export function readJsonText(text: string, maxDepth = MAX_DEPTH): JsonResult {
  const reader = new Reader(text, maxDepth);
  reader.read();
  return reader.result;
}

/** `readJson`, with pauses. */
export function* readJsonInSteps(
  bytes: Uint8Array,
  maxDepth = MAX_DEPTH,
): Generator<void, JsonResult, void> {
  const text = decodeUtf8(bytes);
  if (text === null) return notUtf8(bytes);
  if (isShort(text)) return readJsonText(text, maxDepth);
  yield;
  const reader = new Reader(text, maxDepth);
  while (!reader.read(STEP)) yield;
  yield;
  return reader.result;
}

function notUtf8(bytes: Uint8Array): JsonResult {
  return {
    fault: { pointer: '', offset: firstBadByte(bytes), message: 'is not UTF-8', rule: 'encoding' },
  };
}
