import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { MaybePromise } from '../../common/maybe-promise.ts';
import type { AuditNote } from './audit-log.ts';

/**
 * What a token allows, each role more than the one before: `read` to look, `operate` to change keys, bans and usage,
 * `admin` to change plans, configuration and tokens.
 */
export const ROLES = ['read', 'operate', 'admin'] as const;
export type Role = (typeof ROLES)[number];

export interface TokenRecord {
  readonly name: string;
  /** SHA-256 of the token. */
  readonly hash: string;
  readonly role: Role;
  readonly createdAt: number;
}

/**
 * Stores the hashes of operators' tokens, never the tokens. A change and its note are kept as in KeyStore.
 */
export interface TokenStore {
  /** In the order of their names. */
  list(): MaybePromise<TokenRecord[]>;
  /** Answers `false`, and changes nothing, if the name is taken. Throws IdempotencyConflict before that, as `remove` does. */
  add(record: TokenRecord, note: AuditNote): MaybePromise<boolean>;
  /** Answers `false`, and changes nothing, if there is no token of this name. Throws IdempotencyConflict. */
  remove(name: string, note: AuditNote): MaybePromise<boolean>;
}

/** Who calls, and what the caller may do. */
export interface Operator {
  readonly name: string;
  readonly role: Role;
}

/** The name of the token in the configuration. */
export const CONFIGURED = 'configured';

export function mayActAs({ role }: Operator, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}

/** A new token: 256 random bits after a prefix that secret scanners can recognise. */
export function makeToken(): string {
  return `sgadmin_${randomBytes(32).toString('base64url')}`;
}

const LIKE_A_TOKEN = /sgadmin_[\w-]{16,}/;

/** Whether there is something in `text` that looks like a token, whole or cut short. */
export function holdsToken(text: string): boolean {
  return LIKE_A_TOKEN.test(text);
}

export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}

/** Whose token it is; `null`: nobody's. */
export function operatorOf(token: string, known: readonly TokenRecord[]): Operator | null {
  return holderOf(hashToken(token), known);
}

/**
 * Whose token has this hash; `null`: nobody's. All known tokens are compared, each in constant time, so the time taken
 * reveals nothing.
 */
export function holderOf(hash: string, known: readonly TokenRecord[]): Operator | null {
  const presented = Buffer.from(hash, 'base64url');
  let found: Operator | null = null;
  for (const { name, hash, role } of known) {
    if (timingSafeEqual(Buffer.from(hash, 'base64url'), presented)) found = { name, role };
  }
  return found;
}

/** The token in the configuration as a record; an empty list if there is none. */
export function configuredToken(token: string | null): TokenRecord[] {
  return token === null ? [] : [{ name: CONFIGURED, hash: hashToken(token), role: 'admin', createdAt: 0 }];
}
