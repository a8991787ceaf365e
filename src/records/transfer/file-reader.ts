import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../../config/schema/schema.ts';
import { type KeyRecord, wholeRecord } from '../keys/key.ts';
import { RecordChecker } from './check.ts';
import { FORMAT, FORMAT_VERSION } from './file-writer.ts';
import {
  BATCH,
  type Batch,
  type Counts,
  noCounts,
  type RecordType,
  type Source,
  TransferError,
  TYPES,
  type ValueOf,
} from './form.ts';

/** Maximum bytes of a line. The longest possible line is an audit entry with two whole plans. */
const MAX_LINE = 16 * 1024 * 1024;
const CHUNK = 256 * 1024;

interface Summary {
  readonly from: string;
  readonly counts: Counts;
  readonly sha256: string;
}

type Content = Omit<Summary, 'from'>;
type Parsed = Readonly<Record<string, unknown>>;
type Fail = (wrong: string) => never;

/**
 * A file as a source, after a check of every line. Throws TransferError with the number and the
 * error of the first invalid line; reading throws it if the file has changed since.
 *
 * @param pass is called with the number of bytes read so far
 */
export async function fileSource(
  file: string,
  pass?: (bytes: number) => void,
): Promise<Source> {
  const { from, counts, sha256 } = await summaryOf(file, pass);
  return {
    name: file,
    kind: from,
    isChecked: true,
    counts: () => counts,
    async *read() {
      try {
        const found = yield* readFile(file);
        if (found.sha256 !== sha256)
          throw new TransferError('it has another SHA-256');
      } catch (error) {
        if (!(error instanceof TransferError)) throw error;
        throw new TransferError(`${file} was changed while it was read`, {
          cause: error,
        });
      }
    },
    close() {},
  };
}

async function summaryOf(
  file: string,
  pass?: (bytes: number) => void,
): Promise<Summary> {
  const reading = readFile(file, pass);
  for (;;) {
    const { done, value } = reading.next();
    if (done) return value;
    // Signals such as Ctrl-C are handled only between turns.
    await setImmediate();
  }
}

/** Checks a file and returns its records in batches. */
function* readFile(
  file: string,
  pass: (bytes: number) => void = () => {},
): Generator<Batch, Summary> {
  const digest = createHash('sha256');
  const checker = new RecordChecker();
  const counts = noCounts();
  let from: string | null = null;
  let trailer: Content | null = null;
  let type: RecordType = TYPES[0];
  let values: ValueOf[RecordType][] = [];
  for (const line of linesOf(file)) {
    const fail: Fail = (wrong) => {
      throw new TransferError(`${file}, line ${line.number}: ${wrong}`);
    };
    if (trailer) fail('there is more behind the last line');
    const { type: named, ...rest } = parse(line.bytes, fail);
    if (values.length === BATCH || (values.length > 0 && named !== type)) {
      pass(line.read);
      yield { type, values };
      values = [];
    }
    if (from === null) from = originIn(named, rest, fail);
    else if (named === 'trailer') trailer = trailerIn(rest, fail);
    else {
      type = typeAfter(type, named, fail);
      values.push(recordIn(type, rest, checker, fail));
      counts[type] += 1;
    }
    if (!trailer) digest.update(line.bytes).update('\n');
  }
  if (from === null) throw new TransferError(`${file} is empty`);
  if (!trailer)
    throw new TransferError(
      `${file} is cut off: its last line, the trailer, is missing`,
    );
  const found = { counts, sha256: digest.digest('hex') };
  rejectDifference(file, trailer, found);
  return { from, ...found };
}

function rejectDifference(
  file: string,
  trailer: Content,
  found: Content,
): void {
  for (const type of TYPES) {
    if (trailer.counts[type] !== found.counts[type])
      throw new TransferError(
        `${file}: its trailer lists ${trailer.counts[type]} records of type ${type}, found ${found.counts[type]}`,
      );
  }
  if (trailer.sha256 !== found.sha256)
    throw new TransferError(
      `${file} was changed after it was written: its SHA-256 is not that of its trailer`,
    );
}

function typeAfter(before: RecordType, named: unknown, fail: Fail): RecordType {
  const type = TYPES.find((one) => one === named);
  if (!type)
    return fail(`unknown type ${JSON.stringify(String(named).slice(0, 40))}`);
  if (TYPES.indexOf(type) < TYPES.indexOf(before))
    fail(`a ${type} must not come after a ${before}`);
  return type;
}

function recordIn(
  type: RecordType,
  line: Parsed,
  checker: RecordChecker,
  fail: Fail,
): ValueOf[RecordType] {
  const value = line as unknown as ValueOf[RecordType];
  const fault = checker.faultIn(type, value);
  if (fault !== null) fail(fault);
  // Keys without scopes omit the field, as do older files.
  return type === 'key' ? wholeRecord(value as KeyRecord) : value;
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
  return value;
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The kind of state that the file was written from. */
function originIn(
  type: unknown,
  { format, version, at, from }: Parsed,
  fail: Fail,
): string {
  if (type !== 'header' || format !== FORMAT)
    return fail('this is not a state file of storegate');
  if (version !== FORMAT_VERSION)
    return fail(
      `the file has format ${String(version).slice(0, 20)}, and this storegate reads ${FORMAT_VERSION}: use a newer one`,
    );
  const isTime = typeof at === 'string' && !Number.isNaN(Date.parse(at));
  if (!isTime || typeof from !== 'string' || from.length > 100)
    return fail('the header must say when the file was written, and from what');
  return from;
}

function trailerIn({ counts, sha256 }: Parsed, fail: Fail): Content {
  const all = isObject(counts) && { ban: 0, ...counts };
  const isCounts =
    all && isDeepStrictEqual(Object.keys(all).sort(), [...TYPES].sort());
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
function* linesOf(file: string): Generator<{
  readonly number: number;
  readonly bytes: Buffer;
  readonly read: number;
}> {
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
      for (
        let end = rest.indexOf(10, from);
        end !== -1;
        end = rest.indexOf(10, from)
      ) {
        yield { number: ++number, bytes: rest.subarray(from, end), read };
        from = end + 1;
      }
      rest = rest.subarray(from);
      if (rest.length > MAX_LINE)
        throw new TransferError(
          `${file}, line ${number + 1}: it is longer than ${MAX_LINE} bytes`,
        );
      read += size;
    }
    if (rest.length > 0)
      throw new TransferError(`${file}, line ${number + 1}: it is cut off`);
  } finally {
    closeSync(descriptor);
  }
}

function open(file: string): number {
  try {
    // A plain open of a pipe without a writer would block.
    const descriptor = openSync(
      file,
      constants.O_RDONLY | constants.O_NONBLOCK,
    );
    if (fstatSync(descriptor).isFile()) return descriptor;
    closeSync(descriptor);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reasons: Readonly<Record<string, string>> = {
      ENOENT: 'the file does not exist',
      EACCES: 'it is not readable',
    };
    throw new TransferError(
      `cannot read ${file}: ${reasons[code ?? ''] ?? message}`,
      {
        cause: error,
      },
    );
  }
  throw new TransferError(`cannot read ${file}: it is not a file`);
}
