import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { openDatabase } from '../../common/open-database.ts';
import { inChange } from '../../state/embedded/commits.ts';
import {
  makeFolder,
  reasonOf,
  StateFileError,
} from '../../state/embedded/file.ts';
import { beginAfter, type Outbox, type StoredEvent } from '../outbox.ts';

/** Of a gateway on Redis, while Redis is down. */
const FILE = 'webhooks.db';

const TABLES = `
  CREATE TABLE IF NOT EXISTS events (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL,
    type TEXT NOT NULL,
    body TEXT NOT NULL,
    at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS events_by_type ON events (type, number);
  CREATE TABLE IF NOT EXISTS event_names (name TEXT PRIMARY KEY, at INTEGER NOT NULL, until INTEGER NOT NULL) STRICT;
  CREATE INDEX IF NOT EXISTS event_names_by_end ON event_names (until);
  CREATE TABLE IF NOT EXISTS event_marks (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;`;

/** After the clock was set back, a name is remembered as long as it was to be. */
const FOLLOW_CLOCK =
  'UPDATE event_names SET until = until - at + $now, at = $now WHERE name = $name AND at > $now';

/**
 * Opens an outbox of its own in a folder, or in memory (`null`). Several processes may open it.
 * Throws StateFileError.
 */
export function openOutbox(folder: string | null): Outbox {
  if (folder !== null) makeFolder(folder);
  try {
    return openDatabase(
      folder === null ? ':memory:' : join(folder, FILE),
      { timeout: 5_000 },
      (db) => {
        db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;');
        return { ...outboxIn(db), close: () => db.close() };
      },
    );
  } catch (error) {
    throw new StateFileError(
      `cannot use ${FILE} in the data folder ${folder}: ${reasonOf(error)}`,
      { cause: error },
    );
  }
}

/** The database belongs to the caller; the tables are created if they are missing. */
export function outboxIn(db: DatabaseSync): Outbox {
  db.exec(TABLES);
  const followClock = db.prepare(FOLLOW_CLOCK);
  const findName = db.prepare(
    'SELECT 1 FROM event_names WHERE name = ? AND at >= ? AND until >= ?',
  );
  const remember = db.prepare(
    'INSERT OR REPLACE INTO event_names VALUES (?, ?, ?)',
  );
  const forget = db.prepare(
    'DELETE FROM event_names WHERE name = ? OR until < ?',
  );
  const append = db.prepare(
    'INSERT INTO events (id, type, body, at) VALUES (?, ?, ?, ?)',
  );
  const drop = db.prepare('DELETE FROM events WHERE number <= ?');
  const select = db.prepare(
    'SELECT * FROM events WHERE number > ? ORDER BY number LIMIT ?',
  );
  const last = db.prepare(
    'SELECT coalesce(max(number), 0) AS number FROM events',
  );
  const byType = db.prepare(
    'SELECT type, count(*) AS count FROM events WHERE number > ? GROUP BY type',
  );
  const markOf = db.prepare('SELECT value FROM event_marks WHERE name = ?');
  const begin = db.prepare('INSERT OR IGNORE INTO event_marks VALUES (?, ?)');
  const move = db.prepare(
    'UPDATE event_marks SET value = ? WHERE name = ? AND value = ?',
  );

  return {
    add: ({ message: { id, type, body }, endpoints, once, most, now }) =>
      inChange(db, () => {
        const { name, since, until, ends = name } = once;
        followClock.run({ name, now });
        if (findName.get(name, since, now) !== undefined) return false;
        forget.run(ends, now);
        remember.run(name, now, until);
        const number = Number(append.run(id, type, body, now).lastInsertRowid);
        drop.run(number - most);
        for (const one of endpoints) begin.run(one, beginAfter(number - 1));
        return true;
      }),
    read: (above, limit) =>
      select.all(above, limit) as unknown as StoredEvent[],
    newest: () => (last.get() as { number: number }).number,
    count: (above) =>
      new Map(
        byType
          .all(above)
          .map(({ type, count }) => [type as string, count as number]),
      ),
    time: (local) => local,
    mark: (name) =>
      (markOf.get(name) as { value: string } | undefined)?.value ?? null,
    move: (name, from, to) =>
      inChange(db, () => {
        const { changes } =
          from === null ? begin.run(name, to) : move.run(to, name, from);
        return changes === 1;
      }),
    close: () => {},
  };
}
