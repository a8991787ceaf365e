import { CsvError, parse } from 'csv-parse';
import {
  bad,
  FIELDS,
  type Fields,
  jsonIn,
  type Read,
  type Source,
  textOf,
  unreadable,
} from './rows.ts';

const MAX_RECORD = 262_144;
const METADATA = 'metadata.';
const COLUMNS = `${FIELDS.join(', ')}, or ${METADATA} and a name`;

/** RFC 4180. The first line names the columns, in any order. An empty cell means absent. */
export async function* csvRows(source: Source): AsyncGenerator<Read> {
  let line = 1;
  let columns: readonly string[] | null = null;
  try {
    for await (const record of recordsOf(source)) {
      const at = `line ${line}`;
      line += record.reduce(
        (ends, cell) => ends + cell.split('\n').length - 1,
        1,
      );
      if (record.length === 1 && record[0] === '') continue;
      if (columns) yield rowOf(at, columns, record);
      else {
        const flaw = headerError(record);
        if (flaw !== null) return yield unreadable(at, flaw);
        columns = record;
      }
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    yield unreadable(`line ${line}`, reasonOf(error));
  }
}

/** Includes blank lines. A stream would lose records before an error. Throws CsvError. */
async function* recordsOf(source: Source): AsyncGenerator<readonly string[]> {
  let found: string[][] = [];
  const parser = parse({
    relax_column_count: true,
    record_delimiter: ['\r\n', '\n'],
    max_record_size: MAX_RECORD,
    on_record(record: string[]) {
      found.push(record);
      return null;
    },
  });
  // `write` reports the error.
  parser.on('error', () => {});
  const write = (text: string) =>
    new Promise<unknown>((resolve) =>
      parser.write(text, (error) => resolve(error ?? null)),
    );
  const end = () =>
    new Promise<unknown>((resolve) =>
      parser.end((error?: unknown) => resolve(error ?? null)),
    );
  function* take() {
    yield* found;
    found = [];
  }

  for await (const text of textOf(source)) {
    const error = text === '' ? null : await write(text);
    yield* take();
    if (error !== null) throw error;
  }
  const error = await end();
  yield* take();
  if (error !== null) throw error;
}

/** Without its text, which may have keys. */
function headerError(columns: readonly string[]): string | null {
  const unknown = columns.findIndex(
    (name) =>
      !(FIELDS as readonly string[]).includes(name) && !isMetadata(name),
  );
  if (unknown !== -1)
    return `the first line must name the columns; column ${unknown + 1} is not one of ${COLUMNS}`;
  const twice = columns.findIndex((name, i) => columns.indexOf(name) !== i);
  return twice === -1 ? null : `column ${twice + 1} appears twice`;
}

function isMetadata(name: string): boolean {
  return name.startsWith(METADATA) && name.length > METADATA.length;
}

function rowOf(
  at: string,
  columns: readonly string[],
  record: readonly string[],
): Read {
  if (record.length !== columns.length)
    return bad(
      at,
      null,
      `has ${record.length} cells for ${columns.length} columns`,
    );
  const fields: Record<string, unknown> = {};
  const metadata: [string, string][] = [];
  for (const [i, name] of columns.entries()) {
    const cell = record[i]!;
    if (cell === '') continue;
    if (isMetadata(name)) metadata.push([name.slice(METADATA.length), cell]);
    else fields[name] = cellValue(name, cell);
  }
  if (metadata.length > 0) {
    if (fields.metadata !== undefined)
      return bad(
        at,
        'metadata',
        `cannot be combined with columns that begin with ${METADATA}`,
      );
    // Not by assignment: a name such as __proto__ must become a field like any other.
    fields.metadata = Object.fromEntries(metadata);
  }
  return { at, fields: fields as Fields };
}

/** Other text stays text, and is refused later. */
function cellValue(name: string, cell: string): unknown {
  if (name === 'addresses' || name === 'scopes')
    return cell.split(/[\s,;]+/).filter((one) => one !== '');
  if (name === 'disabled')
    return /^(true|false)$/i.test(cell) ? cell.toLowerCase() === 'true' : cell;
  const value = name === 'metadata' ? jsonIn(cell) : undefined;
  return value === undefined ? cell : value;
}

/** The messages of the parser may quote the file. */
function reasonOf({ code }: CsvError): string {
  if (code === 'CSV_MAX_RECORD_SIZE')
    return `a record is longer than ${MAX_RECORD} characters`;
  if (code === 'CSV_QUOTE_NOT_CLOSED') return 'a quoted cell is not closed';
  return 'a cell contains a quote: quote the cell and double its quotes';
}
