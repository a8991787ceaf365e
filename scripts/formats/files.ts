import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { NO_CONTENT, packValue } from '../../src/ledger/value.ts';
import { outboxIn } from '../../src/records/embedded/outbox.ts';
import { FORMAT, FORMAT_VERSION } from '../../src/records/transfer/file-writer.ts';
import { TYPES } from '../../src/records/transfer/form.ts';
import { fileVersion, openStateFile } from '../../src/state/embedded/file.ts';
import { openRowFile, ROW_FILE } from '../../src/state/rows/row-file.ts';
import { someState } from '../../test/support/transfer.ts';
import { line } from './shape.ts';

export function* files(): Generator<string> {
  yield* database('state.db', openWithOutbox);
  yield* database(ROW_FILE, openRowFile);
  yield* values();
  yield* stateFile();
}

function openWithOutbox(folder: string): DatabaseSync {
  const db = openStateFile(folder);
  outboxIn(db);
  return db;
}

function* database(file: string, open: (folder: string) => DatabaseSync): Generator<string> {
  const folder = mkdtempSync(join(tmpdir(), 'storegate-formats-'));
  const db = open(folder);
  try {
    yield line(`file ${file}`, [`version ${fileVersion(db)}`]);
    const columns = `SELECT t.name AS "table", c.name AS "column", c.type, c."notnull" AS needed
      FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'`;
    for (const { table, column, type, needed } of db.prepare(columns).iterate())
      yield line(`file ${file} ${table}.${column}`, [`${type}`, needed === 1 && 'not null']);
  } finally {
    db.close();
    rmSync(folder, { recursive: true });
  }
}

/** The first byte of a value of the ledger is its format. */
function* values(): Generator<string> {
  const head = { start: 0, span: 0, policies: 0, sources: {} };
  const value = packValue(head, NO_CONTENT);
  yield line('file payload of a value of the ledger', [`format ${value[0]}`]);
}

function* stateFile(): Generator<string> {
  yield line(`file ${FORMAT}`, [`version ${FORMAT_VERSION}`, `order ${TYPES.join(' ')}`]);
  const state = someState(Date.UTC(2026, 0));
  const types = new Map<string, Set<string>>();
  for (const type of TYPES)
    for (const value of state[type]) addTypes(`file ${FORMAT} ${type}`, value, types);
  for (const [name, found] of types) yield line(name, [[...found].sort().join('|')]);
}

/** Their members have names that others choose. */
const ANY_VALUE = /\.(?:before|after|metadata)$/;

function addTypes(at: string, value: unknown, types: Map<string, Set<string>>): void {
  const type = value === null ? 'null' : Array.isArray(value) ? 'list' : typeof value;
  types.set(at, (types.get(at) ?? new Set()).add(type));
  if (ANY_VALUE.test(at)) return;
  if (Array.isArray(value)) for (const entry of value) addTypes(`${at}[]`, entry, types);
  else if (value !== null && typeof value === 'object')
    for (const [name, member] of Object.entries(value)) addTypes(`${at}.${name}`, member, types);
}
