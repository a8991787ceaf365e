import type { DatabaseSync } from 'node:sqlite';
import { transaction } from '../../common/transaction.ts';
import { openRowFile, type RowValue, rowWriterIn } from './row-file.ts';

/** Rows after which a transaction begins by itself, so that a flush of any size fits in memory. */
const MAX_PENDING = 10_000;

/** What a process asks of the thread that writes its rows. */
export type RowRequest =
  | {
      readonly type: 'put';
      readonly kind: string;
      readonly names: readonly string[];
      /** `null`: the row is removed. */
      readonly values: readonly (RowValue | null)[];
    }
  /** Replied to when every row that was put before is on disk. */
  | { readonly type: 'commit'; readonly number: number }
  /** Replied to when this row is on disk. If it fails, the row is as it was. */
  | {
      readonly type: 'write';
      readonly number: number;
      readonly kind: string;
      readonly name: string;
      readonly value: RowValue | null;
    }
  | { readonly type: 'close'; readonly number: number };

/** `error`: `null` if the request was done. */
export interface RowReply {
  readonly number: number;
  readonly error: string | null;
}

type Row = readonly [kind: string, name: string, value: RowValue | null];

/**
 * Rows of a folder that wait to be written. A row that cannot be written stays and is written with
 * the next commit, unless a newer one takes its place.
 */
export function pendingRowsIn(folder: string) {
  const pending = new Map<string, Map<string, RowValue | null>>();
  let size = 0;
  let opened: ReturnType<typeof open> | null = null;

  function open() {
    const db: DatabaseSync = openRowFile(folder);
    return { db, write: rowWriterIn(db) };
  }

  function ofKind(kind: string) {
    let rows = pending.get(kind);
    if (!rows) {
      rows = new Map();
      pending.set(kind, rows);
    }
    return rows;
  }

  /** Everything that waits and `more`, in one transaction. */
  function write(more: readonly Row[] = []) {
    if (size === 0 && more.length === 0) return;
    opened ??= open();
    const { db, write } = opened;
    transaction(db, () => {
      for (const [kind, rows] of pending)
        for (const [name, value] of rows) write(kind, name, value);
      for (const [kind, name, value] of more) write(kind, name, value);
    });
    pending.clear();
    size = 0;
  }

  function run(request: Exclude<RowRequest, { type: 'put' }>) {
    if (request.type !== 'write') return write();
    const { kind, name, value } = request;
    write([[kind, name, value]]);
  }

  return {
    /** Returns the reply, if any. */
    handle(request: RowRequest): RowReply | null {
      if (request.type === 'put') {
        const { kind, names, values } = request;
        const rows = ofKind(kind);
        const before = rows.size;
        for (const [i, name] of names.entries()) rows.set(name, values[i]!);
        size += rows.size - before;
        if (size >= MAX_PENDING) {
          try {
            write();
          } catch {
            // The commit tries again, and reports the error.
          }
        }
        return null;
      }
      const { number } = request;
      try {
        run(request);
        return { number, error: null };
      } catch (error) {
        return { number, error: (error as Error).message };
      } finally {
        if (request.type === 'close') {
          opened?.db.close();
          opened = null;
        }
      }
    },
  };
}
