import { describe } from '@jest/globals';
import type { Records } from '../../src/records/storage.ts';
import type { OpenRecords } from '../support/records.ts';
import { keepsThePromisesOfAuditLog } from './audit-log-contract.ts';
import { keepsThePromisesOfBanLog } from './ban-log-contract.ts';
import { keepsThePromisesOfKeyChanges } from './key-change-contract.ts';
import { keepsThePromisesOfKeyStore } from './keystore-contract.ts';
import { keepsThePromisesOfLastUseStore } from './last-use-contract.ts';
import { keepsThePromisesOfTokenStore } from './token-contract.ts';

/** The promises of all that people manage, on one storage. */
export function keepsThePromisesOfRecords(open: OpenRecords): void {
  describe('a key store', () => keepsThePromisesOfKeyStore(open));
  describe('changes of keys', () => keepsThePromisesOfKeyChanges(open));
  describe('an audit log', () => keepsThePromisesOfAuditLog(open));
  describe('a log of bans', () => {
    const asAuditLog = (records: Records): Records => ({ ...records, auditLog: records.banLog });
    keepsThePromisesOfAuditLog(async (audit) => {
      const { one, other } = await open(audit);
      return { one: asAuditLog(one), other: asAuditLog(other) };
    });
  });
  describe('a log of bans beside an audit log', () => keepsThePromisesOfBanLog(open));
  describe('a token store', () => keepsThePromisesOfTokenStore(open));
  describe('a store of last uses', () => keepsThePromisesOfLastUseStore(open));
}
