import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { openDatabase } from '../../common/open-database.ts';
import { DAY } from '../../common/time.ts';
import { inChange } from '../../state/embedded/commits.ts';
import {
  makeFolder,
  reasonOf,
  StateFileError,
} from '../../state/embedded/file.ts';
import { hasTables } from '../../state/embedded/tables.ts';
import {
  DUE_BATCH,
  type EndpointState,
  type Job,
  LEASE,
  MAX_NAMES,
  NEW_ENDPOINT_STATE,
  type Outbox,
} from '../outbox.ts';

/** A separate file: deleting it loses only pending deliveries. */
const FILE = 'webhooks.db';

/** Events between two cleanups of remembered names and of events without a receiver. */
const CLEANUP_INTERVAL = 1_000;
/**
 * Name of the mark of the clock, and milliseconds between two notes of it. As in
 * lua/rules/outbox.lua.
 */
const CLOCK = 'clock';
const NOTE_INTERVAL = 10_000;
/** Milliseconds that the clock may fall behind its mark without being set back. */
const JITTER = 1_000;

/**
 * Milliseconds, longer than any retry period. Also drops events of removed receivers, as in Redis.
 */
const RETENTION = 30 * DAY;

const TABLES = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  CREATE TABLE IF NOT EXISTS jobs (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    endpoint TEXT NOT NULL,
    id TEXT NOT NULL,
    type TEXT NOT NULL,
    body TEXT NOT NULL,
    at INTEGER NOT NULL,
    due INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE INDEX IF NOT EXISTS jobs_by_due ON jobs (endpoint, due, number);
  CREATE INDEX IF NOT EXISTS jobs_by_number ON jobs (endpoint, number);
  CREATE TABLE IF NOT EXISTS names (name TEXT PRIMARY KEY, at INTEGER NOT NULL, until INTEGER NOT NULL) STRICT;
  CREATE INDEX IF NOT EXISTS names_by_end ON names (until);
  CREATE TABLE IF NOT EXISTS endpoints (
    endpoint TEXT PRIMARY KEY,
    failures INTEGER NOT NULL DEFAULT 0,
    failing INTEGER,
    error TEXT,
    delivered INTEGER,
    paused INTEGER NOT NULL DEFAULT 0,
    gone INTEGER NOT NULL DEFAULT 0,
    late INTEGER NOT NULL DEFAULT 0,
    waiting INTEGER NOT NULL DEFAULT 0,
    lost INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE TABLE IF NOT EXISTS marks (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT;`;

const UNRELEASED =
  'an unreleased storegate has written it. Delete it: only pending deliveries are lost';

/** A `Row`. */
const FIRST_DUE = `SELECT number, id, type, body, at, attempts + 1 AS attempts FROM jobs WHERE endpoint = ? AND due <= ?
  ORDER BY due, number LIMIT 1`;

/** An `EndpointState`. */
const ENDPOINT_STATE = `SELECT waiting, (SELECT at FROM jobs WHERE jobs.endpoint = $endpoint ORDER BY number LIMIT 1) AS oldest,
  failing AS failingSince, failures, error, delivered AS deliveredAt, paused AS pausedUntil, gone AS isGone, lost
  FROM endpoints WHERE endpoint = $endpoint`;

/**
 * Opens the outbox in a folder, or in memory (`null`). Several processes may open it. Throws
 * StateFileError.
 */
export function openOutbox(folder: string | null): Outbox {
  if (folder !== null) makeFolder(folder);
  try {
    return openDatabase(
      folder === null ? ':memory:' : join(folder, FILE),
      { timeout: 5_000 },
      (db) => {
        db.exec(TABLES);
        if (!hasTables(db, TABLES)) throw new Error(UNRELEASED);
        return outboxIn(db);
      },
    );
  } catch (error) {
    throw new StateFileError(
      `cannot use ${FILE} in the data folder ${folder}: ${reasonOf(error)}`,
      { cause: error },
    );
  }
}

function outboxIn(db: DatabaseSync): Outbox {
  const known = db.prepare(
    'SELECT 1 FROM names WHERE name = ? AND at >= ? AND until >= ?',
  );
  const remember = db.prepare(
    'INSERT INTO names (name, at, until) VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE SET at = excluded.at, until = excluded.until',
  );
  const forget = db.prepare('DELETE FROM names WHERE name = ?');
  const forgetOld = db.prepare('DELETE FROM names WHERE until < ?');
  const countNames = db.prepare('SELECT count(*) AS count FROM names');
  const forgetFirst = db.prepare(
    'DELETE FROM names WHERE name IN (SELECT name FROM names ORDER BY until LIMIT ?)',
  );
  let added = 0;
  const abandon = db.prepare('DELETE FROM jobs WHERE at < ?');
  const recount = db.prepare(
    `UPDATE endpoints SET waiting = (SELECT count(*) FROM jobs WHERE jobs.endpoint = endpoints.endpoint),
     lost = lost + waiting - (SELECT count(*) FROM jobs WHERE jobs.endpoint = endpoints.endpoint)`,
  );
  const insert = db.prepare(
    'INSERT INTO jobs (endpoint, id, type, body, at, due) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const drop = db.prepare(
    'DELETE FROM jobs WHERE number IN (SELECT number FROM jobs WHERE endpoint = ? ORDER BY number LIMIT ?)',
  );
  const came = db.prepare(
    'INSERT INTO endpoints (endpoint, waiting) VALUES (?, 1) ON CONFLICT (endpoint) DO UPDATE SET waiting = waiting + 1',
  );
  const went = db.prepare(
    'UPDATE endpoints SET waiting = waiting - ?, lost = lost + ? WHERE endpoint = ?',
  );
  const first = db.prepare(FIRST_DUE);
  const lease = db.prepare(
    'UPDATE jobs SET due = ?, attempts = attempts + 1 WHERE number = ?',
  );
  const remove = db.prepare('DELETE FROM jobs WHERE number = ?');
  const again = db.prepare('UPDATE jobs SET due = ? WHERE number = ?');
  const moreDue = db.prepare(
    `UPDATE jobs SET due = ? WHERE number IN (SELECT number FROM jobs WHERE endpoint = ? AND due > ? ORDER BY due LIMIT ${DUE_BATCH})`,
  );
  const one = db.prepare(
    'SELECT failures, paused, gone, late, waiting FROM endpoints WHERE endpoint = ?',
  );
  const rowOf = (endpoint: string) =>
    (one.get(endpoint) ?? NEVER_TRIED) as EndpointRow;
  const well = db.prepare(
    `INSERT INTO endpoints (endpoint, delivered) VALUES ($endpoint, $now) ON CONFLICT (endpoint)
     DO UPDATE SET failures = 0, failing = NULL, error = NULL, delivered = $now, paused = 0, gone = 0, late = $late`,
  );
  const fail = db.prepare(
    `INSERT INTO endpoints (endpoint, failures, failing, error, paused, gone) VALUES ($endpoint, 1, $now, $error, $paused, $gone)
     ON CONFLICT (endpoint) DO UPDATE SET failures = failures + 1, failing = coalesce(failing, $now), error = $error, paused = $paused, gone = $gone`,
  );
  const state = db.prepare(ENDPOINT_STATE);
  const marks = marksIn(db);
  const followClock = clockFollowerIn(db, marks);

  /** Leaves jobs held by other processes untouched. */
  function isWell(endpoint: string, now: number) {
    const { failures, late } = rowOf(endpoint);
    const moved =
      failures > 0 || late === 1
        ? Number(moreDue.run(now, endpoint, now + LEASE).changes)
        : 0;
    well.run({ endpoint, now, late: Number(moved === DUE_BATCH) });
  }

  const change = <T>(work: () => T): T => inChange(db, work);
  return {
    add: ({ message: { id, type, body }, endpoints, once, most, now }) =>
      change(() => {
        followClock(now);
        if (known.get(once.name, once.since, now) !== undefined) return null;
        forgetOld.run(now);
        // Finding the limit scans all rows.
        if (added++ % CLEANUP_INTERVAL === 0) {
          const { count } = countNames.get() as { count: number };
          forgetFirst.run(Math.max(0, count - MAX_NAMES));
          if (abandon.run(now - RETENTION).changes > 0) recount.run();
        }
        if (once.ends !== undefined) forget.run(once.ends);
        remember.run(once.name, now, once.until);
        let dropped = 0;
        for (const endpoint of endpoints) {
          insert.run(endpoint, id, type, body, now, now);
          came.run(endpoint);
          const over = rowOf(endpoint).waiting - most;
          if (over <= 0) continue;
          drop.run(endpoint, over);
          went.run(over, over, endpoint);
          dropped += over;
        }
        return dropped;
      }),
    take: (endpoint, now) =>
      change(() => {
        followClock(now);
        const { paused, gone, failures } = rowOf(endpoint);
        if (gone || paused > now) return null;
        const row = first.get(endpoint, now) as Row | undefined;
        if (row === undefined) return null;
        lease.run(now + LEASE, row.number);
        return { ...row, endpoint, number: `${row.number}`, failures };
      }),
    done: (job, now) =>
      change(() => {
        went.run(
          Number(remove.run(Number(job.number)).changes),
          0,
          job.endpoint,
        );
        isWell(job.endpoint, now);
      }),
    failed: (
      { endpoint, number },
      { again: due, now, error, pausedUntil: paused, isGone },
    ) =>
      change(() => {
        followClock(now);
        again.run(due, Number(number));
        fail.run({ endpoint, now, error, paused, gone: Number(isGone) });
      }),
    giveUp: ({ endpoint, number }) =>
      change(() => {
        const gone = Number(remove.run(Number(number)).changes);
        went.run(gone, gone, endpoint);
      }),
    resume: (endpoint, now) => change(() => isWell(endpoint, now)),
    states: (endpoints) =>
      endpoints.map((endpoint) => {
        const row = state.get({ endpoint }) as
          | (Omit<EndpointState, 'isGone'> & { isGone: number })
          | undefined;
        return row ? { ...row, isGone: row.isGone === 1 } : NEW_ENDPOINT_STATE;
      }),
    mark: marks.get,
    move: (name, from, to) =>
      change(() => {
        if (marks.get(name) !== from) return false;
        marks.set(name, to);
        return true;
      }),
    close: () => db.close(),
  };
}

function marksIn(db: DatabaseSync) {
  const read = db.prepare('SELECT value FROM marks WHERE name = ?');
  const write = db.prepare(
    'INSERT INTO marks (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
  );
  return {
    get: (name: string) =>
      (read.get(name) as { value: number } | undefined)?.value ?? null,
    set(name: string, value: number) {
      write.run(name, value);
    },
  };
}

/** The result brings everything that waits forward after the clock was set back, by as much. */
function clockFollowerIn(
  db: DatabaseSync,
  marks: ReturnType<typeof marksIn>,
): (now: number) => void {
  const moveJobs = db.prepare('UPDATE jobs SET due = due - ?');
  const movePauses = db.prepare('UPDATE endpoints SET paused = paused - ?');
  const moveNames = db.prepare(
    'UPDATE names SET at = at - ?, until = until - ? WHERE at > ?',
  );
  return (now) => {
    const noted = marks.get(CLOCK) ?? now - NOTE_INTERVAL;
    const back = noted - now;
    if (back > JITTER) {
      moveJobs.run(back);
      movePauses.run(back);
      moveNames.run(back, back, now);
    }
    if (back > JITTER || back <= -NOTE_INTERVAL) marks.set(CLOCK, now);
  };
}

type Row = Pick<Job, 'id' | 'type' | 'body' | 'at' | 'attempts'> & {
  readonly number: number;
};

/** `late` 1: more jobs are due later. */
type EndpointRow = Readonly<
  Record<'failures' | 'paused' | 'gone' | 'late' | 'waiting', number>
>;

const NEVER_TRIED: EndpointRow = {
  failures: 0,
  paused: 0,
  gone: 0,
  late: 0,
  waiting: 0,
};
