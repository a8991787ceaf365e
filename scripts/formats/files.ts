import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { versionOf } from '../../src/common/open-database.ts';
import { NO_CONTENT, packValue } from '../../src/ledger/value.ts';
import { outboxIn } from '../../src/records/embedded/outbox.ts';
import { FORMAT, FORMAT_VERSION } from '../../src/records/transfer/file-writer.ts';
import { TYPES } from '../../src/records/transfer/form.ts';
import { openStateFile } from '../../src/state/embedded/file.ts';
import { openRowFile, ROW_FILE } from '../../src/state/rows/row-file.ts';
import { someState } from '../../test/support/transfer.ts';
import { line } from './line.ts';

const COLUMNS = `SELECT t.name || '.' || c.name AS name, c.type, c."notnull" AS needed
  FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'`;

export function* files(): Generator<string> {
  const folder = mkdtempSync(join(tmpdir(), 'storegate-formats-'));
  const [state, rows] = [openStateFile(folder), openRowFile(folder)];
  outboxIn(state);
  for (const [file, db] of [
    ['state.db', state],
    [ROW_FILE, rows],
  ] as const) {
    yield `file ${file}: version ${versionOf(db)}`;
    for (const { name, type, needed } of db.prepare(COLUMNS).all())
      yield line(`file ${file} ${name}`, [`${type}`, needed === 1 && 'not null']);
    db.close();
  }
  rmSync(folder, { recursive: true });
  // The first byte of a value of the ledger is its format.
  const [format] = packValue({ start: 0, span: 0, policies: 0, sources: {} }, NO_CONTENT);
  yield `file payload of a value of the ledger: format ${format}`;
  yield `file ${FORMAT}: version ${FORMAT_VERSION}, order ${TYPES.join(' ')}`;
  const sample = someState(Date.UTC(2026, 0));
  const found = TYPES.flatMap((type) =>
    sample[type].flatMap((value) => [...typesIn(`file ${FORMAT} ${type}`, value)]),
  );
  for (const [name, types] of Map.groupBy(found, ([at]) => at))
    yield `${name}: ${[...new Set(types.map(([, type]) => type))].sort().join('|')}`;
}

/** Their members have names that others choose. */
const ANY_VALUE = /\.(?:before|after|metadata)$/;

function* typesIn(at: string, value: unknown): Generator<readonly [at: string, type: string]> {
  const type = value === null ? 'null' : Array.isArray(value) ? 'list' : typeof value;
  yield [at, type];
  if ((type !== 'list' && type !== 'object') || ANY_VALUE.test(at)) return;
  for (const [name, member] of Object.entries(value as object))
    yield* typesIn(type === 'list' ? `${at}[]` : `${at}.${name}`, member);
}
