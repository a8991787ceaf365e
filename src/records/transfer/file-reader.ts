import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../../common/shapes.ts';
import { createRecordChecker } from './check.ts';
import { upgradeLine } from './earlier-lines.ts';
import { FORMAT, FORMAT_VERSION, MAX_LINE } from './file-writer.ts';
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

const CHUNK = 256 * 1024;
/** Bytes of lines that are given on at once. */
const BATCH_BYTES = 1 << 22;

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
    isStopped: false,
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
  const checker = createRecordChecker();
  const counts = noCounts();
  let origin: Origin | null = null;
  let trailer: Content | null = null;
  let type: RecordType = TYPES[0];
  let values: ValueOf[RecordType][] = [];
  let bytes = 0;
  for (const line of linesOf(file)) {
    const fail: Fail = (wrong) => {
      throw new TransferError(`${file}, line ${line.number}: ${wrong}`);
    };
    if (trailer) fail('there is more behind the last line');
    const parsed = parse(line.bytes, fail);
    const { type: named, ...rest } =
      origin?.version === 1 ? upgradeLine(parsed) : parsed;
    const isFull = values.length === BATCH || bytes > BATCH_BYTES;
    if (isFull || (values.length > 0 && named !== type)) {
      pass(line.read);
      yield { type, values };
      values = [];
      bytes = 0;
    }
    bytes += line.bytes.length;
    if (origin === null) origin = originIn(named, rest, fail);
    else if (named === 'trailer') trailer = trailerIn(rest, fail);
    else {
      type = typeAfter(type, named, fail);
      const value = rest as unknown as ValueOf[RecordType];
      const fault = checker.faultIn(type, value);
      if (fault !== null) fail(fault);
      values.push(value);
      counts[type] += 1;
    }
    if (!trailer) digest.update(line.bytes).update('\n');
  }
  if (origin === null) throw new TransferError(`${file} is empty`);
  if (!trailer)
    throw new TransferError(
      `${file} is cut off: its last line, the trailer, is missing`,
    );
  const found = { counts, sha256: digest.digest('hex') };
  rejectDifference(file, trailer, found);
  return { from: origin.from, ...found };
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

interface Origin {
  /** The kind of state that the file was written from. */
  readonly from: string;
  readonly version: number;
}

function originIn(
  type: unknown,
  { format, version, at, from }: Parsed,
  fail: Fail,
): Origin {
  if (type !== 'header' || format !== FORMAT)
    return fail('this is not a state file of storegate');
  if (typeof version !== 'number' || !VERSIONS.includes(version))
    return fail(
      `the file has format ${String(version).slice(0, 20)}, and this storegate reads ${VERSIONS.join(', ')}: use the version that wrote it`,
    );
  const isTime = typeof at === 'string' && !Number.isNaN(Date.parse(at));
  if (!isTime || typeof from !== 'string' || from.length > 100)
    return fail('the header must have the time and the source of the export');
  return { from, version };
}

const VERSIONS: readonly number[] = [1, FORMAT_VERSION];

function trailerIn({ counts, sha256 }: Parsed, fail: Fail): Content {
  const isCounts =
    isObject(counts) &&
    isDeepStrictEqual(Object.keys(counts).sort(), [...TYPES].sort());
  if (!isCounts || typeof sha256 !== 'string')
    return fail('the trailer must have the counts of all types, and sha256');
  return { counts: counts as unknown as Counts, sha256 };
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
    /** The begin of a line whose end was not read yet. */
    let begin: Buffer[] = [];
    let length = 0;
    let number = 0;
    let read = 0;
    for (;;) {
      const chunk = Buffer.allocUnsafe(CHUNK);
      const size = readSync(descriptor, chunk, 0, CHUNK, null);
      if (size === 0) break;
      let rest = chunk.subarray(0, size);
      for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10)) {
        begin.push(rest.subarray(0, end));
        const bytes = begin.length === 1 ? begin[0]! : Buffer.concat(begin);
        yield { number: ++number, bytes, read };
        rest = rest.subarray(end + 1);
        begin = [];
        length = 0;
      }
      begin.push(rest);
      length += rest.length;
      if (length > MAX_LINE)
        throw new TransferError(
          `${file}, line ${number + 1}: it is longer than ${MAX_LINE} bytes`,
        );
      read += size;
    }
    if (length > 0)
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
