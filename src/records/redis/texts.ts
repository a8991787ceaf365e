import { isObject } from '../../config/schema/schema.ts';
import type { KeyRecord } from '../keys/key.ts';
import type { AuditDraft } from '../operators/audit-log.ts';
import type { TokenRecord } from '../operators/tokens.ts';

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
export const recordIn = (text: string) => checked(text, RECORD);
/** The entry in a text of Redis; `null`: it is not one. */
export const entryIn = (text: string) => checked(text, ENTRY);
/** The token in a text of Redis; `null`: it is not one. */
export const tokenIn = (text: string) => checked(text, TOKEN);

type Check = (value: unknown) => boolean;
/** Of fields that are relied on; further ones may be there. */
type Checks<T> = Readonly<Record<keyof T, Check>>;

function checked<T>(text: string, checks: Checks<T>): T | null {
  const value = parsed(text);
  if (!isObject(value)) return null;
  const isValid = (name: string) => checks[name as keyof T](value[name]);
  return Object.keys(checks).every(isValid) ? (value as T) : null;
}

const isText: Check = (value) => typeof value === 'string';
const isNumber: Check = (value) => typeof value === 'number';
const isAny: Check = (value) => value !== undefined;
const orNull =
  (is: Check): Check =>
  (value) =>
    value === null || is(value);

const RECORD: Checks<Required<KeyRecord>> = {
  id: isText,
  version: isNumber,
  hash: isText,
  account: isText,
  plan: isText,
  label: orNull(isText),
  windows: orNull(Array.isArray),
  addresses: orNull(Array.isArray),
  scopes: Array.isArray,
  apis: (value) => (value ?? null) === null || Array.isArray(value),
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

const ENTRY: Checks<Required<AuditDraft>> = {
  at: isNumber,
  actor: isText,
  action: isText,
  target: isText,
  before: isAny,
  after: isAny,
  requestId: isText,
  reason: (value) => value === undefined || isText(value),
};

const TOKEN: Checks<TokenRecord> = {
  name: isText,
  hash: isText,
  role: isText,
  createdAt: isNumber,
};
