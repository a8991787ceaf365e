import type { AuditSettings } from '../../src/config/config.ts';
import type { KeyRecord } from '../../src/records/keys/key.ts';
import type { KeyEdit } from '../../src/records/keys/manage.ts';
import type { KeyStore } from '../../src/records/keys/store.ts';
import type { AuditDraft, AuditEntry, AuditNote } from '../../src/records/operators/audit-log.ts';
import type { Records } from '../../src/records/storage.ts';

/**
 * Empty records, as two processes with shared storage see them. The test that opened them closes
 * them.
 */
export type OpenRecords = (
  audit?: AuditSettings,
) => Promise<{ readonly one: Records; readonly other: Records }>;

let keys = 0;

export function keyRecord(changes: Partial<KeyRecord> = {}): KeyRecord {
  const number = ++keys;
  return {
    id: `key_${number}`,
    version: 1,
    hash: `hash-${number}`,
    account: 'acme',
    plan: 'free',
    label: null,
    windows: null,
    addresses: null,
    scopes: [],
    metadata: {},
    createdAt: 1_000,
    expiresAt: null,
    disabledAt: null,
    revokedAt: null,
    rotatedAt: null,
    previous: null,
    imported: false,
    ...changes,
  };
}

export function changed(record: KeyRecord, changes: Partial<KeyRecord>): KeyRecord {
  return { ...record, version: record.version + 1, ...changes };
}

export function draft(changes: Partial<AuditDraft> = {}): AuditDraft {
  return {
    at: 1_000,
    actor: 'anna',
    action: 'test',
    target: 'thing',
    before: null,
    after: null,
    requestId: 'request',
    ...changes,
  };
}

/** With a `name`, also the stored response of an idempotent call. */
export function note(entry: Partial<AuditDraft> = {}, name: string | null = null): AuditNote {
  return {
    entry: draft(entry),
    idempotent: name === null ? null : { name, question: 'what', sealed: `of ${name}` },
  };
}

/** Oldest first. */
export function editOf(store: KeyStore, now = Date.now()): KeyEdit {
  return { store, now, auditNoteOf: () => note() };
}

export async function entries({ auditLog }: Records): Promise<AuditEntry[]> {
  return (await auditLog.list({ limit: 10_000 })).toReversed();
}

/** The error of each refused change, `null` for the others. */
export async function outcomes(changes: readonly (() => unknown)[]): Promise<unknown[]> {
  const results = await Promise.allSettled(changes.map(async (change) => await change()));
  return results.map((result) => (result.status === 'rejected' ? result.reason : null));
}

/** Oldest first. */
export async function allKeys(keys: Pick<KeyStore, 'read'>): Promise<KeyRecord[]> {
  return (await Array.fromAsync(keys.read())).flat();
}
