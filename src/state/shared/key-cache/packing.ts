import type { KeyRecord } from '../../../keys/key.ts';

/** `record` omits the hashes and the default fields of a key. */
export interface PackedKey {
  readonly hash: HashColumn;
  readonly previous: HashColumn | null;
  readonly record: string;
}

/** 32 bytes, or text if a hash is not SHA-256 in base64url. */
export type HashColumn = Uint8Array | string;

/** Default fields, omitted from a packed record. */
const PLAIN: Omit<KeyRecord, 'id' | 'hash' | 'account' | 'plan' | 'createdAt'> = {
  version: 1,
  label: null,
  windows: null,
  addresses: null,
  scopes: [],
  metadata: {},
  expiresAt: null,
  disabledAt: null,
  revokedAt: null,
  rotatedAt: null,
  previous: null,
  imported: false,
};

const plain = new Map(Object.entries(PLAIN).map(([field, value]) => [field, JSON.stringify(value)]));

export function pack({ hash, previous, ...rest }: KeyRecord): PackedKey {
  const own = Object.entries(rest).filter(([field, value]) => plain.get(field) !== JSON.stringify(value));
  const fields = previous ? [...own, ['until', previous.until] as const] : own;
  return {
    hash: hashColumn(hash),
    previous: previous && hashColumn(previous.hash),
    record: JSON.stringify(Object.fromEntries(fields)),
  };
}

export function unpack({ hash, previous, record }: PackedKey): KeyRecord {
  const { until, ...fields } = JSON.parse(record) as { until?: number };
  return {
    ...PLAIN,
    ...fields,
    hash: hashIn(hash),
    previous: previous !== null && until !== undefined ? { hash: hashIn(previous), until } : null,
  } as KeyRecord;
}

export function hashColumn(hash: string): HashColumn {
  const bytes = Buffer.from(hash, 'base64url');
  return bytes.length === 32 && bytes.toString('base64url') === hash ? bytes : hash;
}

function hashIn(column: HashColumn): string {
  return typeof column === 'string' ? column : Buffer.from(column).toString('base64url');
}
