import type { DatabaseSync } from 'node:sqlite';
import type { ThreadReply } from '../../common/thread.ts';
import { transaction } from '../../common/transaction.ts';
import {
  openRowFile,
  type RowValue,
  rowWriterIn,
  valuesIn,
} from './row-file.ts';

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
  /** Replied to when these rows are on disk. If it fails, they are as they were. */
  | {
      readonly type: 'write';
      readonly number: number;
      readonly kind: string;
      readonly rows: ReadonlyMap<string, RowValue | null>;
    }
  /** Replied to with binary rows that were written. */
  | {
      readonly type: 'read';
      readonly number: number;
      readonly kind: string;
      readonly names: readonly string[];
    }
  | { readonly type: 'close'; readonly number: number };

/** `values`: `null` if missing. */
export interface RowReply extends ThreadReply {
  readonly values?: readonly (Uint8Array | null)[];
}

interface Kind {
  readonly kind: string;
  readonly rows: ReadonlyMap<string, RowValue | null>;
}

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
  function write(more: Kind | null = null) {
    if (size === 0 && more === null) return;
    opened ??= open();
    const { db, write } = opened;
    transaction(db, () => {
      for (const [kind, rows] of pending)
        for (const [name, value] of rows) write(kind, name, value);
      for (const [name, value] of more?.rows ?? [])
        write(more!.kind, name, value);
    });
    pending.clear();
    size = 0;
  }

  function read(kind: string, names: readonly string[]) {
    opened ??= open();
    return valuesIn(opened.db, kind, names);
  }

  function run(
    request: Exclude<RowRequest, { type: 'put' }>,
  ): Pick<RowReply, 'values'> {
    if (request.type === 'read')
      return { values: read(request.kind, request.names) };
    write(request.type === 'write' ? request : null);
    return {};
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
        return { number, error: null, ...run(request) };
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
