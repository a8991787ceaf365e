import { isObject } from '../../config/schema/schema.ts';
import type { KeyRecord } from '../keys/key.ts';

/** JSON of Redis; `null`: it is not valid. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** The record in a text of Redis; `null`: it is not one. */
export function recordIn(text: string): KeyRecord | null {
  const record = parsed(text) as KeyRecord | null;
  return isObject(record) && isRecord(record) ? record : null;
}

const isText = (value: unknown) => typeof value === 'string';
const isNumber = (value: unknown) => typeof value === 'number';
const orNull = (is: (value: unknown) => boolean) => (value: unknown) =>
  value === null || is(value);

/** Fields that requests rely on; further ones may be there. */
const FIELDS: Readonly<Record<keyof KeyRecord, (value: unknown) => boolean>> = {
  id: isText,
  version: isNumber,
  hash: isText,
  account: isText,
  plan: isText,
  label: orNull(isText),
  windows: orNull(Array.isArray),
  addresses: orNull(Array.isArray),
  scopes: Array.isArray,
  metadata: isObject,
  createdAt: isNumber,
  expiresAt: orNull(isNumber),
  disabledAt: orNull(isNumber),
  revokedAt: orNull(isNumber),
  rotatedAt: orNull(isNumber),
  previous: orNull(
    (value) => isObject(value) && isText(value.hash) && isNumber(value.until),
  ),
  imported: (value) => typeof value === 'boolean',
};
const CHECKS = Object.entries(FIELDS);

function isRecord(record: KeyRecord): boolean {
  const values = record as unknown as Readonly<Record<string, unknown>>;
  return CHECKS.every(([name, is]) => is(values[name]));
}
