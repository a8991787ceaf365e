import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../../config/schema/schema.ts';
import { hashesOf, type KeyRecord } from '../../keys/key.ts';
import { faultIn } from './check.ts';
import { FORMAT, FORMAT_VERSION } from './file-target.ts';
import { Fingerprints } from './fingerprints.ts';
import { recordIn } from './lines.ts';
import {
  BATCH,
  type Batch,
  type Counts,
  nameIn,
  noCounts,
  type RecordType,
  type Source,
  TransferError,
  TYPES,
  type ValueOf,
} from './records.ts';

/** Maximum bytes of a line. The longest possible line is an audit entry with two whole plans. */
const MAX_LINE = 16 * 1024 * 1024;
const CHUNK = 256 * 1024;

export interface CheckedFile {
  readonly header: { readonly at: string; readonly from: string };
  readonly counts: Counts;
  readonly sha256: string;
}

type Parsed = { readonly type: unknown } & Record<string, unknown>;
type Fail = (wrong: string) => never;

/**
 * Checks every line of a file. Throws TransferError with the number and the error of the first
 * invalid line.
 *
 * @param pass is called with the number of bytes read so far
 */
export async function checkFile(
  file: string,
  pass?: (bytes: number) => void,
): Promise<CheckedFile> {
  const reading = readFile(file, pass);
  for (;;) {
    const { done, value } = reading.next();
    if (done) return value;
    // Signals such as Ctrl-C are handled only between turns.
    await setImmediate();
  }
}

/** A checked file as a source. Reading throws TransferError if the file has changed since. */
export function fileSource(file: string, { header, counts, sha256 }: CheckedFile): Source {
  return {
    name: file,
    kind: header.from,
    isChecked: true,
    counts: () => counts,
    async *read() {
      try {
        const found = yield* readFile(file);
        if (found.sha256 !== sha256) throw new TransferError('it has another SHA-256');
      } catch (error) {
        if (!(error instanceof TransferError)) throw error;
        throw new TransferError(`${file} was changed while it was read`, { cause: error });
      }
    },
    close() {},
  };
}

/** Checks a file and returns its records in batches. */
function* readFile(
  file: string,
  pass: (bytes: number) => void = () => {},
): Generator<Batch, CheckedFile> {
  const digest = createHash('sha256');
  const counts = noCounts();
  let header: CheckedFile['header'] | null = null;
  let trailer: Omit<CheckedFile, 'header'> | null = null;
  let records = new RecordsOfType(TYPES[0]);
  for (const line of linesOf(file)) {
    const fail: Fail = (wrong) => {
      throw new TransferError(`${file}, line ${line.number}: ${wrong}`);
    };
    if (trailer) fail('there is more behind the last line');
    const parsed = parse(line.bytes, fail);
    const { type, ...rest } = parsed;
    const isNext = type !== records.type;
    if (records.values.length === BATCH || (isNext && records.values.length > 0)) {
      pass(line.read);
      yield records.takeBatch();
    }
    if (header === null) header = headerIn(parsed, fail);
    else if (type === 'trailer') trailer = trailerIn(rest, fail);
    else {
      if (isNext) records = new RecordsOfType(typeAfter(records.type, type, fail));
      records.add(rest, fail);
      counts[records.type] += 1;
    }
    if (!trailer) digest.update(line.bytes).update('\n');
  }
  if (!header) throw new TransferError(`${file} is empty`);
  if (!trailer)
    throw new TransferError(`${file} is cut off: its last line, the trailer, is missing`);
  for (const type of TYPES) {
    const [expected, found] = [trailer.counts[type], counts[type]];
    if (expected !== found)
      throw new TransferError(
        `${file}: its trailer lists ${expected} records of type ${type}, found ${found}`,
      );
  }
  const sha256 = digest.digest('hex');
  if (sha256 !== trailer.sha256)
    throw new TransferError(
      `${file} was changed after it was written: its SHA-256 is not that of its trailer`,
    );
  return { header, counts, sha256 };
}

function typeAfter(before: RecordType, type: unknown, fail: Fail): RecordType {
  const known = TYPES.find((one) => one === type);
  if (!known) return fail(`unknown type ${JSON.stringify(String(type).slice(0, 40))}`);
  if (TYPES.indexOf(known) < TYPES.indexOf(before))
    fail(`a ${known} must not come after a ${before}`);
  return known;
}

class RecordsOfType {
  readonly type: RecordType;
  /** Of the current batch. */
  values: unknown[] = [];
  readonly #names = new Fingerprints();
  #lastNumber = 0;

  constructor(type: RecordType) {
    this.type = type;
  }

  takeBatch(): Batch {
    const batch = { type: this.type, values: this.values } as Batch;
    this.values = [];
    return batch;
  }

  add(line: unknown, fail: Fail): void {
    const { type } = this;
    const wrong = faultIn(type, line);
    if (wrong !== null) fail(`${type}: ${wrong}`);
    const value = recordIn(type, line);
    this.values.push(value);
    if (type === 'audit' || type === 'ban') {
      const { number } = value as { number: number };
      if (number <= this.#lastNumber) fail(`the numbers of ${type} entries must rise`);
      this.#lastNumber = number;
      return;
    }
    if (!this.#names.add(nameIn(type, value as ValueOf[typeof type])))
      fail(`the same ${type} came before`);
    if (type !== 'key' && type !== 'token') return;
    // A token has one secret.
    const { hash, previous = null } = value as Pick<KeyRecord, 'hash' | 'previous'>;
    for (const one of hashesOf({ hash, previous }))
      if (!this.#names.add(`hash ${one}`)) fail(`another ${type} before it has the same secret`);
  }
}

function parse(bytes: Buffer, fail: Fail): Parsed {
  let value: unknown;
  try {
    value = JSON.parse(UTF8.decode(bytes));
  } catch {
    return fail('it is not JSON in UTF-8');
  }
  if (!isObject(value)) return fail('it is not a JSON object');
  // Only an escape can produce a lone surrogate, which no state can store unchanged.
  if (
    (bytes.includes('\\ud') || bytes.includes('\\uD')) &&
    /\\ud[89a-f]/.test(JSON.stringify(value))
  )
    fail('it has half a character');
  return value as Parsed;
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function headerIn({ type, format, version, at, from }: Parsed, fail: Fail): CheckedFile['header'] {
  if (type !== 'header' || format !== FORMAT) return fail('this is not a state file of storegate');
  if (version !== FORMAT_VERSION)
    return fail(
      `the file has format ${String(version).slice(0, 20)}, and this storegate reads ${FORMAT_VERSION}: use a newer one`,
    );
  if (
    typeof at !== 'string' ||
    Number.isNaN(Date.parse(at)) ||
    typeof from !== 'string' ||
    from.length > 100
  )
    return fail('the header must say when the file was written, and from what');
  return { at, from };
}

function trailerIn(
  { counts, sha256 }: Record<string, unknown>,
  fail: Fail,
): Omit<CheckedFile, 'header'> {
  const all = isObject(counts) && { ban: 0, ...counts };
  const isCounts = all && isDeepStrictEqual(Object.keys(all).sort(), [...TYPES].sort());
  if (!isCounts || typeof sha256 !== 'string')
    return fail('the trailer must have the counts of all types, and sha256');
  return { counts: all as unknown as Counts, sha256 };
}

/**
 * The lines of a file. Throws TransferError if it cannot be read, a line is too long, or the last
 * line has no line feed.
 *
 * `number` counts from 1; `bytes` lack the line feed and are valid until the next line; `read`:
 * bytes read before them.
 */
function* linesOf(
  file: string,
): Generator<{ readonly number: number; readonly bytes: Buffer; readonly read: number }> {
  const descriptor = open(file);
  try {
    let rest: Buffer = Buffer.alloc(0);
    let number = 0;
    let read = 0;
    for (;;) {
      const chunk = Buffer.allocUnsafe(CHUNK);
      const size = readSync(descriptor, chunk, 0, CHUNK, null);
      if (size === 0) break;
      rest =
        rest.length === 0
          ? chunk.subarray(0, size)
          : Buffer.concat([rest, chunk.subarray(0, size)]);
      let from = 0;
      for (let end = rest.indexOf(10, from); end !== -1; end = rest.indexOf(10, from)) {
        yield { number: ++number, bytes: rest.subarray(from, end), read };
        from = end + 1;
      }
      rest = rest.subarray(from);
      if (rest.length > MAX_LINE)
        throw new TransferError(`${file}, line ${number + 1}: it is longer than ${MAX_LINE} bytes`);
      read += size;
    }
    if (rest.length > 0) throw new TransferError(`${file}, line ${number + 1}: it is cut off`);
  } finally {
    closeSync(descriptor);
  }
}

function open(file: string): number {
  try {
    // A plain open of a pipe without a writer would block.
    const descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
    if (fstatSync(descriptor).isFile()) return descriptor;
    closeSync(descriptor);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reasons: Readonly<Record<string, string>> = {
      ENOENT: 'the file does not exist',
      EACCES: 'it is not readable',
    };
    throw new TransferError(`cannot read ${file}: ${reasons[code ?? ''] ?? message}`, {
      cause: error,
    });
  }
  throw new TransferError(`cannot read ${file}: it is not a file`);
}
