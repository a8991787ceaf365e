import {
  has,
  type Is,
  isFlag,
  isNumber,
  isObject,
  isText,
  orMissing,
  orNull,
} from '../../common/shapes.ts';
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
export const recordIn = (text: string) => checked<KeyRecord>(text, isKey);
/** The entry in a text of Redis; `null`: it is not one. */
export const entryIn = (text: string) => checked<AuditDraft>(text, isEntry);
/** The token in a text of Redis; `null`: it is not one. */
export const tokenIn = (text: string) => checked<TokenRecord>(text, isToken);

function checked<T>(text: string, is: Is): T | null {
  const value = parsed(text);
  return is(value) ? (value as T) : null;
}

/** Checks of fields that are relied on; further ones may be there. */
const isShape = <T>(checks: Readonly<Record<keyof Required<T>, Is>>) =>
  has(checks as Readonly<Record<string, Is>>);
const isList: Is<unknown[]> = (value) => Array.isArray(value);
const isAny: Is = (value): value is unknown => value !== undefined;

const isKey = isShape<KeyRecord>({
  id: isText,
  version: isNumber,
  hash: isText,
  account: isText,
  plan: isText,
  label: orNull(isText),
  windows: orNull(isList),
  addresses: orNull(isList),
  scopes: isList,
  apis: orMissing(orNull(isList)),
  metadata: isObject,
  createdAt: isNumber,
  expiresAt: orNull(isNumber),
  disabledAt: orNull(isNumber),
  revokedAt: orNull(isNumber),
  rotatedAt: orNull(isNumber),
  previous: orNull(has({ hash: isText, until: isNumber })),
  imported: isFlag,
});

const isEntry = isShape<AuditDraft>({
  at: isNumber,
  actor: isText,
  action: isText,
  target: isText,
  before: isAny,
  after: isAny,
  requestId: isText,
  reason: orMissing(isText),
});

const isToken = isShape<TokenRecord>({
  name: isText,
  hash: isText,
  role: isText,
  createdAt: isNumber,
});
