import type { AuditSettings } from '../../src/config/config.ts';
import type { KeyRecord } from '../../src/keys/key.ts';
import type { AuditDraft, AuditEntry, AuditNote } from '../../src/keys/operators/audit-log.ts';
import type { Records } from '../../src/state/storage.ts';

/** Empty records, as two processes see them that share one storage. Closing is the business of whoever opened. */
export type OpenRecords = (audit?: AuditSettings) => Promise<{ readonly one: Records; readonly other: Records }>;

let keys = 0;

/** A key of its own, with whatever a test wants different. */
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

/** The next version of a key. */
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

/** What is kept with a change; with a `name`, the answer to a call that must not be done twice. */
export function note(entry: Partial<AuditDraft> = {}, name: string | null = null): AuditNote {
  return { entry: draft(entry), idempotent: name === null ? null : { name, question: 'what', sealed: `of ${name}` } };
}

/** All that stands in an audit log, oldest first. */
export async function entries({ auditLog }: Records): Promise<AuditEntry[]> {
  return (await auditLog.list({ limit: 10_000 })).toReversed();
}

/** What became of changes that were made at once: for each that was refused its error, `null` for those that were made. */
export async function outcomes(changes: readonly (() => unknown)[]): Promise<unknown[]> {
  const results = await Promise.allSettled(changes.map(async (change) => await change()));
  return results.map((result) => (result.status === 'rejected' ? result.reason : null));
}
