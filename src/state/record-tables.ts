/** A log of entries. */
const logTable = (log: string) => `
   CREATE TABLE ${log} (
     number INTEGER PRIMARY KEY AUTOINCREMENT,
     at INTEGER NOT NULL,
     actor TEXT NOT NULL,
     action TEXT NOT NULL,
     target TEXT NOT NULL,
     request TEXT NOT NULL,
     before TEXT NOT NULL,
     after TEXT NOT NULL,
     reason TEXT
   ) STRICT;
   CREATE INDEX ${log}_by_target ON ${log} (target, number);`;

/** The plan that counts the key of a row; `NULL`: it is revoked. */
const planOf = (row: 'OLD' | 'NEW') =>
  `iif(json_extract(${row}.record, '$.revokedAt') IS NULL, json_extract(${row}.record, '$.plan'), NULL)`;
const COUNT_NEW = `INSERT INTO plan_keys SELECT plan, 1 FROM (SELECT ${planOf('NEW')} AS plan)
     WHERE plan IS NOT NULL ON CONFLICT (plan) DO UPDATE SET keys = keys + 1;`;
const DISCOUNT_OLD = `UPDATE plan_keys SET keys = keys - 1 WHERE plan = ${planOf('OLD')};`;

/** Numbers of keys that are not revoked, by plan. */
const COUNTS = `
   CREATE TABLE plan_keys (plan TEXT PRIMARY KEY, keys INTEGER NOT NULL) STRICT, WITHOUT ROWID;
   CREATE TRIGGER keys_count_added AFTER INSERT ON keys BEGIN ${COUNT_NEW} END;
   CREATE TRIGGER keys_count_removed AFTER DELETE ON keys BEGIN ${DISCOUNT_OLD} END;
   CREATE TRIGGER keys_count_changed AFTER UPDATE OF record ON keys
   WHEN ${planOf('OLD')} IS NOT ${planOf('NEW')}
   BEGIN ${DISCOUNT_OLD} ${COUNT_NEW} END;`;

/**
 * Tables of records, the same in `state.db` and in a copy of the records of Redis. Keys created in
 * the same millisecond are in the order of their ids, so that every copy has one order.
 */
export const RECORD_TABLES = `
   CREATE TABLE keys (
     id TEXT PRIMARY KEY,
     hash TEXT NOT NULL UNIQUE,
     record TEXT NOT NULL,
     previous TEXT
   ) STRICT;
   CREATE UNIQUE INDEX keys_by_previous ON keys (previous) WHERE previous IS NOT NULL;
   ${COUNTS}
   ${logTable('audit')}
   ${logTable('bans')}
   CREATE TABLE tokens (
     name TEXT PRIMARY KEY,
     hash TEXT NOT NULL UNIQUE,
     role TEXT NOT NULL,
     created INTEGER NOT NULL
   ) STRICT;`;

/** For questions of operators. Made after all keys they cost a tenth. */
export const KEY_INDICES = `
   CREATE INDEX IF NOT EXISTS keys_imported ON keys (id) WHERE json_extract(record, '$.imported') = 1;
   CREATE INDEX IF NOT EXISTS keys_by_age ON keys (json_extract(record, '$.createdAt'), id);
   CREATE INDEX IF NOT EXISTS keys_by_account
     ON keys (json_extract(record, '$.account'), json_extract(record, '$.createdAt'), id);
   CREATE INDEX IF NOT EXISTS keys_by_plan
     ON keys (json_extract(record, '$.plan'), json_extract(record, '$.createdAt'), id);
   CREATE INDEX IF NOT EXISTS keys_expiring
     ON keys (json_extract(record, '$.expiresAt'))
     WHERE json_extract(record, '$.expiresAt') IS NOT NULL AND json_extract(record, '$.revokedAt') IS NULL;`;
