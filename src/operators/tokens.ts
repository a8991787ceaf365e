import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Eventually } from '../common/eventually.ts';
import type { AuditNote } from './audit-log.ts';

/** What a token may do: look; act on keys, bans and usage; change plans, configuration and tokens too. */
export const ROLES = ['read', 'operate', 'admin'] as const;
export type Role = (typeof ROLES)[number];

export interface TokenRecord {
  readonly name: string;
  /** SHA-256 of the token. */
  readonly hash: string;
  readonly role: Role;
  readonly createdAt: number;
}

/** Where the tokens of operators are kept; never the tokens themselves. */
export interface TokenStore {
  /** In the order of their names. */
  list(): Eventually<TokenRecord[]>;
  /** Answers `false`, and does nothing, where the name is taken. Throws IdempotencyConflict before that, as `remove` does. */
  add(record: TokenRecord, note: AuditNote): Eventually<boolean>;
  /** Answers `false`, and does nothing, where there is none of this name. */
  remove(name: string, note: AuditNote): Eventually<boolean>;
}

/** Who calls, and what it may do. */
export interface Operator {
  readonly name: string;
  readonly role: Role;
}

/** The name of the token that the configuration holds. */
export const CONFIGURED = 'configured';

export function mayActAs({ role }: Operator, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}

/** A new token: 256 bits of chance behind a prefix that secret scanners can know. */
export function makeToken(): string {
  return `sgadmin_${randomBytes(32).toString('base64url')}`;
}

export function hashToken(token: string): string {
  return digest(token).toString('base64url');
}

/**
 * Whose token it is, `null`: nobody's. Every known token is compared, each in constant time, so that the time it takes
 * tells nothing.
 */
export function operatorOf(token: string, known: readonly TokenRecord[]): Operator | null {
  const presented = digest(token);
  let found: Operator | null = null;
  for (const { name, hash, role } of known) {
    if (timingSafeEqual(Buffer.from(hash, 'base64url'), presented)) found = { name, role };
  }
  return found;
}

/** The token that the configuration holds, as a record; none without one. */
export function configuredToken(token: string | null): TokenRecord[] {
  return token === null ? [] : [{ name: CONFIGURED, hash: hashToken(token), role: 'admin', createdAt: 0 }];
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
