import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Role } from '@storegate/admin-api';
import type { MaybePromise } from '../../common/maybe-promise.ts';
import { hashSecret } from '../keys/secret.ts';
import type { AuditNote } from './audit-log.ts';

export interface TokenRecord {
  readonly name: string;
  /** SHA-256 of the token. */
  readonly hash: string;
  readonly role: Role;
  readonly createdAt: number;
}

/** A change and its note are atomic, as in KeyStore. */
export interface TokenStore {
  list(): MaybePromise<TokenRecord[]>;
  /**
   * Returns `false` and changes nothing if the name is taken. Throws IdempotencyConflict before
   * that.
   */
  add(record: TokenRecord, note: AuditNote): MaybePromise<boolean>;
  /**
   * Returns `false` and changes nothing if the token does not exist. Throws IdempotencyConflict.
   */
  remove(name: string, note: AuditNote): MaybePromise<boolean>;
}

export interface Operator {
  readonly name: string;
  readonly role: Role;
}

export const CONFIGURED = 'configured';

/** 256 random bits after a prefix that secret scanners recognise. */
export function makeToken(): string {
  return `sgadmin_${randomBytes(32).toString('base64url')}`;
}

const LIKE_A_TOKEN = /sgadmin_[\w-]{16,}/;

export function holdsToken(text: string): boolean {
  return LIKE_A_TOKEN.test(text);
}

/** Compares all tokens in constant time, so timing reveals nothing. */
export function holderOf(
  hash: string,
  records: readonly TokenRecord[],
): Operator | null {
  const presented = Buffer.from(hash, 'base64url');
  let found: Operator | null = null;
  for (const { name, hash, role } of records) {
    if (timingSafeEqual(Buffer.from(hash, 'base64url'), presented))
      found = { name, role };
  }
  return found;
}

export function configuredToken(token: string | null): TokenRecord[] {
  return token === null
    ? []
    : [
        {
          name: CONFIGURED,
          hash: hashSecret(token),
          role: 'admin',
          createdAt: 0,
        },
      ];
}
