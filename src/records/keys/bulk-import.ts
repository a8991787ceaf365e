import type { ImportReport } from '@storegate/admin-api';
import type { Plans } from '../../limits/plans.ts';
import type { AuditNote } from '../operators/audit-log.ts';
import { draftErrors, type KeyDraft, KeyError } from './draft.ts';
import type { KeyRecord } from './key.ts';
import { newRecord } from './manage.ts';
import { makeKeyId } from './secret.ts';
import { type KeyStore, KeyTaken } from './store.ts';

/** `hash`: SHA-256 of the secret, 43 characters of base64url. */
export interface ImportedKey extends KeyDraft {
  readonly hash: string;
  readonly disabled?: boolean;
}

/** The message has no value of the key. */
export type ImportError = ImportReport['bad'][number];

export interface ImportPlan {
  readonly fresh: readonly ImportedKey[];
  readonly already: number;
  readonly flaws: readonly ImportError[];
}

/** `now` in Unix milliseconds. */
export async function planImport(
  store: KeyStore,
  plans: Plans,
  keys: readonly ImportedKey[],
  now: number,
): Promise<ImportPlan> {
  const fresh: ImportedKey[] = [];
  const flaws: ImportError[] = [];
  let already = 0;
  const found = await store.findMany(keys.map(({ hash }) => hash));
  const seen = new Set<string>();
  for (const [index, key] of keys.entries()) {
    const there = found[index] ?? null;
    const wrong = seen.has(key.hash)
      ? [{ field: 'hash', message: 'the key is there twice' }]
      : there
        ? differences(there, key)
        : draftErrors(plans, key, now).map(({ field, message }) => ({
            field,
            message,
          }));
    seen.add(key.hash);
    flaws.push(...wrong.map((flaw) => ({ index, ...flaw })));
    if (wrong.length > 0) continue;
    if (there) already++;
    else fresh.push(key);
  }
  return { fresh, already, flaws };
}

/**
 * All keys or none, with one audit note. `now` in Unix milliseconds. Throws KeyError if another key
 * has taken a hash in the meantime.
 */
export async function applyImport(
  store: KeyStore,
  { fresh }: Pick<ImportPlan, 'fresh'>,
  now: number,
  noteOf: (ids: readonly string[]) => AuditNote,
): Promise<void> {
  // Keys of one moment are listed in the order of their ids.
  const ids = fresh.map(makeKeyId).sort();
  const records = fresh.map((key, i) => ({
    ...newRecord(key, key.hash, true, now),
    id: ids[i]!,
    disabledAt: key.disabled ? now : null,
  }));
  try {
    await store.addMany(records, noteOf(ids));
  } catch (error) {
    if (error instanceof KeyTaken)
      throw new KeyError(
        'somebody else has imported one of these keys at the same time: try again',
        'conflict',
      );
    throw error;
  }
}

function differences(
  there: KeyRecord,
  key: ImportedKey,
): Omit<ImportError, 'index'>[] {
  const differs = (field: string, how: string) => [
    { field, message: `it is there already as ${there.id}, ${how}` },
  ];
  if (there.hash !== key.hash)
    return differs(
      'hash',
      'which has a newer secret since: this one is the former',
    );
  if (there.revokedAt !== null)
    return differs('hash', 'which is revoked for good');
  const pairs: readonly (readonly [
    field: string,
    now: unknown,
    imported: unknown,
  ])[] = [
    ['account', there.account, key.account],
    ['plan', there.plan, key.plan],
    ['label', there.label, key.label ?? null],
    ['limits', there.windows, key.windows ?? null],
    ['expires', there.expiresAt, key.expiresAt ?? null],
    ['addresses', there.addresses, key.addresses ?? null],
    ['scopes', there.scopes.toSorted(), key.scopes?.toSorted() ?? []],
    ['apis', setOf(there.apis), setOf(key.apis)],
    ['metadata', sorted(there.metadata), sorted(key.metadata ?? {})],
    ['disabled', there.disabledAt !== null, key.disabled ?? false],
  ];
  return pairs
    .filter(
      ([, now, imported]) => JSON.stringify(now) !== JSON.stringify(imported),
    )
    .flatMap(([field]) =>
      differs(field, `with another ${NAMES[field] ?? field}`),
    );
}

const NAMES: Readonly<Record<string, string>> = {
  limits: 'set of limits',
  expires: 'expiry',
  addresses: 'list of addresses',
  scopes: 'set of scopes',
  apis: 'set of APIs',
  metadata: 'set of metadata',
  disabled: 'state: one is disabled, the other is not',
};

const setOf = (names: KeyRecord['apis']) => names?.toSorted() ?? null;

function sorted(
  metadata: Readonly<Record<string, string>>,
): [string, string][] {
  return Object.entries(metadata).sort(([a], [b]) => (a < b ? -1 : 1));
}
