import { join, resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import {
  openDatabase,
  removeDatabase,
  versionOf,
} from '../../common/open-database.ts';
import { createThread } from '../../common/thread.ts';
import { SECOND } from '../../common/time.ts';
import { transaction } from '../../common/transaction.ts';
import { makeDataFolder } from '../../state/data-folder.ts';
import { KEY_INDICES, RECORD_TABLES } from '../../state/record-tables.ts';
import { type Model, modelIn } from '../model/model.ts';
import {
  type CopyReply,
  type CopyRequest,
  type CopyWork,
  copyWriterIn,
} from './copy-writer.ts';
import {
  BEFORE_ALL,
  type Progress,
  progressIn,
  type Reading,
} from './progress.ts';

export const COPY_FILE = 'records.db';
const COPIER = resolve(import.meta.dirname, 'copier.ts');
const IN_MEMORY = ':memory:';

/** Another format is replaced. */
const FORMAT = 2;

/**
 * Milliseconds between two stored confirmations while nothing changes, and the largest part of the
 * age to which a copy is used: as much older it looks after a restart, and to readers of the file.
 */
const CONFIRMATION_INTERVAL = 5 * SECOND;
const PART_OF_AGE = 0.1;

/** The copy could not be written. */
export class CopyWriteError extends Error {
  override name = 'CopyWriteError';
}

export type Copy = ReturnType<typeof copyIn>;

export interface CopyOptions {
  /** Identifies the Redis, without passwords. */
  readonly source: string;
  /** Milliseconds since the last confirmation after which the copy is not used. */
  readonly maxAge: number;
  /** Called with what Redis has in place of a record, which is left out. */
  readonly invalid: (what: string) => void;
}

/** Opens or creates the copy in a folder, or in memory (`null`), to write it. */
export function openCopy(folder: string | null, options: CopyOptions): Copy {
  const { source } = options;
  if (folder !== null) makeDataFolder(folder);
  const file = folder === null ? IN_MEMORY : join(folder, COPY_FILE);
  const open = () =>
    openDatabase(file, { timeout: 1_000 }, (db) => {
      if (!isOfThisFormat(db)) throw new Error('another format');
      return db;
    });
  if (file !== IN_MEMORY) {
    try {
      const db = open();
      const { isWhole, source: copied } = progressIn(db)();
      if (isWhole && copied === source) return copyIn(db, options);
      db.close();
    } catch {
      // Missing, damaged, not whole or of another format: a new one replaces it.
    }
    removeCopy(folder!);
  }
  return openDatabase(file, { timeout: 1_000 }, (db) => {
    create(db, source);
    return copyIn(db, options);
  });
}

export function removeCopy(folder: string): void {
  removeDatabase(join(folder, COPY_FILE));
}

export const isOfThisFormat = (db: DatabaseSync): boolean =>
  versionOf(db) === FORMAT;

/** The writer makes the indices of a file when it has all keys. */
function create(db: DatabaseSync, source: string): void {
  const none: Progress = {
    source,
    epoch: '',
    audit: BEFORE_ALL,
    bans: BEFORE_ALL,
    isWhole: false,
    isPassing: false,
    confirmedAt: 0,
    gateways: 1,
  };
  // The journal limit keeps the log of a complete reading from staying on disk.
  db.exec(
    'PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = 4194304',
  );
  transaction(db, () => {
    db.exec(`${RECORD_TABLES}
      ${db.location() === null ? KEY_INDICES : ''}
      CREATE TABLE progress (value TEXT NOT NULL) STRICT;
      PRAGMA user_version = ${FORMAT};`);
    db.prepare('INSERT INTO progress VALUES (?)').run(JSON.stringify(none));
  });
}

/**
 * The copy of the records in Redis, for the one process that writes it: a file in a thread, so that
 * requests never wait for it, and one in memory at once.
 */
function copyIn(db: DatabaseSync, { maxAge, invalid }: CopyOptions) {
  const interval = Math.min(CONFIRMATION_INTERVAL, PART_OF_AGE * maxAge);
  const file = db.location();
  const thread =
    file === null ? null : createThread<CopyRequest, CopyReply>(COPIER, file);
  const inMemory = thread === null ? copyWriterIn(db) : null;
  let progress = progressIn(db)();
  /** Confirmed since the stored confirmation; `null`: nothing. Unix milliseconds. */
  let confirmedAt: number | null = null;
  let storedAt = Number.NEGATIVE_INFINITY;
  let oldest: Reading['oldest'] = { audit: 0, bans: 0 };

  /**
   * Resolves with the last of the rows that were looked at; `null`: there are none. Rejects with
   * CopyWriteError.
   */
  async function write(work: CopyWork): Promise<number | null> {
    const reply =
      inMemory?.handle({ ...work, number: 0 }) ??
      (await thread!.ask((number) => ({ ...work, number })));
    if (reply.error !== null) throw new CopyWriteError(reply.error);
    const { invalid: found, last, progress: stored } = reply as CopyReply;
    if (work.type === 'take' || work.type === 'end') confirmedAt = null;
    progress = { ...stored, confirmedAt: confirmedAt ?? stored.confirmedAt };
    for (const what of found) invalid(what);
    return last;
  }

  function isNews({ audit, bans, records, tokens, oldest: found }: Reading) {
    return (
      audit.length + bans.length + records.length > 0 ||
      tokens !== null ||
      found.audit !== oldest.audit ||
      found.bans !== oldest.bans
    );
  }

  async function take(reading: Reading, at: number) {
    if (isNews(reading) || Math.abs(at - storedAt) >= interval) {
      await write({ type: 'take', reading, at });
      storedAt = at;
      oldest = reading.oldest;
    } else if (!progress.isPassing) {
      confirmedAt = at;
      progress = { ...progress, confirmedAt };
    }
  }

  return {
    model: modelIn(db) as Model,
    get progress() {
      return progress;
    },
    /** Of a reading after the position of the copy. */
    take,
    write,
    /** What was begun ends before. */
    async close() {
      db.close();
      const changes = confirmedAt === null ? {} : { confirmedAt };
      await thread?.close((number) => ({ type: 'close', changes, number }));
    },
  };
}
