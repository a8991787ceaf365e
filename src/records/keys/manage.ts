import type { Plans } from '../../limits/plans.ts';
import type { AuditNote } from '../operators/audit-log.ts';
import {
  changedScopes,
  checkDraft,
  type KeyDraft,
  KeyError,
  type KeyPatch,
} from './draft.ts';
import type { KeyRecord } from './key.ts';
import { hashSecret, makeKeyId, makeSecret } from './secret.ts';
import { KeyConflict, type KeyStore, KeyTaken } from './store.ts';

export interface KeyChange {
  readonly before: KeyRecord | null;
  readonly after: KeyRecord;
  readonly secret: string | null;
}

/** `now` in Unix milliseconds. */
export interface KeyEdit {
  readonly store: KeyStore;
  readonly now: number;
  readonly auditNoteOf: (change: KeyChange) => AuditNote;
}

/** The secret is stored nowhere else. */
export interface IssuedSecret {
  readonly secret: string;
  readonly record: KeyRecord;
}

const MAX_ATTEMPTS = 5;

/** Throws KeyError; then no key was issued. */
export async function createKey(
  edit: KeyEdit,
  plans: Plans,
  draft: KeyDraft,
): Promise<IssuedSecret> {
  const { store, now, auditNoteOf } = edit;
  checkDraft(plans, draft, now);
  const secret = makeSecret(draft.env ?? 'live');
  const record = newRecord(draft, hashSecret(secret), false, now);
  await store.add(record, auditNoteOf({ before: null, after: record, secret }));
  return { secret, record };
}

/** `hash`: SHA-256 of the secret, 43 characters of base64url. Throws KeyError. */
export async function importKey(
  { store, now, auditNoteOf }: KeyEdit,
  plans: Plans,
  draft: KeyDraft & { readonly hash: string },
): Promise<KeyRecord> {
  checkDraft(plans, draft, now);
  const record = newRecord(draft, draft.hash, true, now);
  try {
    await store.add(
      record,
      auditNoteOf({ before: null, after: record, secret: null }),
    );
  } catch (error) {
    if (error instanceof KeyTaken)
      throw new KeyError('a key with this hash is there already', 'conflict');
    throw error;
  }
  return record;
}

/** Throws KeyError; then nothing was changed. */
export function updateKey(
  edit: KeyEdit,
  plans: Plans,
  id: string,
  patch: KeyPatch,
): Promise<KeyRecord> {
  return change(edit, id, (record) => {
    rejectRevoked(record);
    const { scopeChange, ...fields } = patch;
    const given = Object.entries(fields).filter(
      ([, value]) => value !== undefined,
    );
    const changed: KeyRecord = {
      ...record,
      ...(scopeChange && { scopes: changedScopes(record.scopes, scopeChange) }),
      ...Object.fromEntries(given),
    };
    // A past expiry may stay, but cannot be set.
    checkDraft(
      plans,
      patch.expiresAt === undefined ? { ...changed, expiresAt: null } : changed,
      edit.now,
      patch,
    );
    return changed;
  });
}

/** Idempotent. Throws KeyError. */
export function setDisabled(
  edit: KeyEdit,
  id: string,
  disabled: boolean,
): Promise<KeyRecord> {
  return change(edit, id, (record) => {
    rejectRevoked(record);
    if ((record.disabledAt !== null) === disabled) return null;
    return { ...record, disabledAt: disabled ? edit.now : null };
  });
}

/** The record stays. Idempotent. Throws KeyError for an unknown id. */
export function revokeKey(edit: KeyEdit, id: string): Promise<KeyRecord> {
  return change(edit, id, (record) =>
    record.revokedAt === null
      ? { ...record, revokedAt: edit.now, previous: null }
      : null,
  );
}

interface Rotation {
  /** Milliseconds for which the old secret still works. */
  readonly overlap: number;
  readonly env?: string | undefined;
  /** Rotates even during the overlap of the last rotation, which ends the older secret. */
  readonly force?: boolean | undefined;
}

/**
 * Refuses another rotation during the overlap, because a repeated call would lock out clients that
 * still use the first secret. Throws KeyError.
 */
export async function rotateKey(
  edit: KeyEdit,
  id: string,
  rotation: Rotation,
): Promise<IssuedSecret> {
  const { now } = edit;
  const { overlap, env = 'live', force = false } = rotation;
  const secret = makeSecret(env);
  const work = (before: KeyRecord): KeyRecord => {
    rejectRevoked(before);
    if (before.previous && before.previous.until > now && !force) {
      const until = new Date(before.previous.until).toISOString();
      throw new KeyError(
        `the older secret works until ${until}: to end it now, add force (--force)`,
        'conflict',
      );
    }
    const previous =
      overlap > 0 ? { hash: before.hash, until: now + overlap } : null;
    return { ...before, hash: hashSecret(secret), rotatedAt: now, previous };
  };
  return { secret, record: await change(edit, id, work, secret) };
}

/** `work` returns `null` if nothing changes. `secret`: the new one of a rotation. */
async function change(
  { store, auditNoteOf }: KeyEdit,
  id: string,
  work: (before: KeyRecord) => KeyRecord | null,
  secret: string | null = null,
): Promise<KeyRecord> {
  for (let tries = 1; ; tries++) {
    const before = await store.get(id);
    if (!before)
      throw new KeyError(
        `the key ${JSON.stringify(id.slice(0, 64))} does not exist`,
        'unknown',
      );
    const changed = work(before);
    if (!changed) return before;
    const after = { ...changed, version: before.version + 1 };
    try {
      await store.replace(after, auditNoteOf({ before, after, secret }));
      return after;
    } catch (error) {
      if (!(error instanceof KeyConflict) || tries === MAX_ATTEMPTS)
        throw error;
    }
  }
}

function rejectRevoked({ id, revokedAt }: KeyRecord): void {
  if (revokedAt !== null)
    throw new KeyError(
      `key ${id} is revoked for good; create a new one`,
      'conflict',
    );
}

export function newRecord(
  draft: KeyDraft,
  hash: string,
  imported: boolean,
  now: number,
): KeyRecord {
  return {
    id: makeKeyId(),
    version: 1,
    hash,
    account: draft.account,
    plan: draft.plan,
    label: draft.label ?? null,
    windows: draft.windows ?? null,
    addresses: draft.addresses ?? null,
    scopes: draft.scopes ?? [],
    ...(draft.apis && { apis: draft.apis }),
    metadata: draft.metadata ?? {},
    createdAt: now,
    expiresAt: draft.expiresAt ?? null,
    disabledAt: null,
    revokedAt: null,
    rotatedAt: null,
    previous: null,
    imported,
  };
}
