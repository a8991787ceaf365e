import { createHash, type Hash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { KeyRecord } from '../../keys/key.ts';
import { faultIn } from './check.ts';
import { isObject } from './fields.ts';
import { FORMAT, FORMAT_VERSION, type Header, type Trailer, TransferError } from './file-format.ts';
import { Fingerprints } from './fingerprints.ts';
import { recordIn } from './lines.ts';
import type { Source } from './port.ts';
import { type Line, linesOf } from './read-lines.ts';
import { BATCH, type Batch, type Counts, nameIn, noCounts, type RecordType, TYPES, type ValueOf } from './records.ts';

export interface CheckedFile {
  readonly header: Header;
  readonly counts: Counts;
  readonly sha256: string;
}

type Parsed = { readonly type: unknown } & Record<string, unknown>;

/**
 * Checks every line of a file. Throws TransferError with the number and the error of the first invalid line.
 *
 * @param pass is called with the number of bytes read so far
 */
export async function checkFile(file: string, pass: (bytes: number) => void = () => {}): Promise<CheckedFile> {
  const checking = new Checking(file);
  for (const line of linesOf(file)) {
    checking.take(line);
    if (line.number % BATCH !== 0) continue;
    pass(line.read);
    // Signals such as Ctrl-C are handled only between turns.
    await setImmediate();
  }
  return checking.end();
}

/** A checked file as a source. Reading throws TransferError if the file has changed since. */
export function fileSource(file: string, { header, counts, sha256 }: CheckedFile): Source {
  return {
    name: file,
    kind: header.from,
    isChecked: true,
    counts: () => counts,
    async *read() {
      const digest = createHash('sha256');
      for (const batch of batchesIn(file, digest)) yield batch;
      if (digest.digest('hex') !== sha256) throw new TransferError(`${file} was changed while it was read`);
    },
    close() {},
  };
}

/** Parses without checks; the digest detects a file changed since the check. */
function* batchesIn(file: string, digest: Hash): Generator<Batch> {
  let type: RecordType | null = null;
  let values: unknown[] = [];
  for (const { number, bytes } of linesOf(file)) {
    const { type: next, ...line } = parse(file, { number, bytes });
    const isRecord = TYPES.includes(next as RecordType);
    if (type !== null && (next !== type || values.length === BATCH)) {
      yield { type, values } as Batch;
      values = [];
      type = null;
    }
    if (next === 'trailer') return;
    digest.update(bytes).update('\n');
    if (!isRecord) continue;
    const wrong = faultIn(next as RecordType, line);
    if (wrong !== null) throw new TransferError(`${file}, line ${number}: it was changed while it was read: ${wrong}`);
    type = next as RecordType;
    values.push(recordIn(type, line));
  }
}

class Checking {
  readonly #file: string;
  readonly #digest = createHash('sha256');
  readonly #counts = noCounts();
  #header: Header | null = null;
  #trailer: Trailer | null = null;
  #type: RecordType = TYPES[0];
  #names = new Fingerprints();
  #lastNumber = 0;

  constructor(file: string) {
    this.#file = file;
  }

  take(line: Line): void {
    const fail = (wrong: string): never => {
      throw new TransferError(`${this.#file}, line ${line.number}: ${wrong}`);
    };
    if (this.#trailer) fail('there is more behind the last line');
    const parsed = parse(this.#file, line);
    const { type, ...rest } = parsed;
    if (this.#header === null) this.#header = headerIn(parsed, fail);
    else if (type === 'trailer') this.#trailer = trailerIn(rest, fail);
    else if (!TYPES.includes(type as RecordType)) fail(`unknown type ${JSON.stringify(String(type).slice(0, 40))}`);
    else this.#record(type as RecordType, rest, fail);
    if (!this.#trailer) this.#digest.update(line.bytes).update('\n');
  }

  /** Throws TransferError if the trailer is missing or does not match. */
  end(): CheckedFile {
    if (!this.#header) throw new TransferError(`${this.#file} is empty`);
    if (!this.#trailer) throw new TransferError(`${this.#file} is cut off: its last line, the trailer, is missing`);
    for (const type of TYPES) {
      const [expected, found] = [this.#trailer.counts[type], this.#counts[type]];
      if (expected !== found)
        throw new TransferError(`${this.#file}: its trailer lists ${expected} records of type ${type}, found ${found}`);
    }
    const sha256 = this.#digest.digest('hex');
    if (sha256 !== this.#trailer.sha256)
      throw new TransferError(`${this.#file} was changed after it was written: its SHA-256 is not that of its trailer`);
    return { header: this.#header, counts: this.#counts, sha256 };
  }

  #record(type: RecordType, rest: unknown, fail: (wrong: string) => never): void {
    const wrong = faultIn(type, rest);
    if (wrong !== null) fail(`${type}: ${wrong}`);
    if (type !== this.#type) {
      if (TYPES.indexOf(type) < TYPES.indexOf(this.#type)) fail(`a ${type} must not come after a ${this.#type}`);
      this.#type = type;
      this.#names = new Fingerprints();
      this.#lastNumber = 0;
    }
    this.#counts[type] += 1;
    const value = recordIn(type, rest);
    if (type === 'audit' || type === 'ban') {
      const { number } = value as { number: number };
      if (number <= this.#lastNumber) fail(`the numbers of ${type} entries must rise`);
      this.#lastNumber = number;
      return;
    }
    if (!this.#names.add(nameIn(type, value as ValueOf[typeof type]))) fail(`the same ${type} came before`);
    if (type === 'key' || type === 'token') this.#secrets(value as Pick<KeyRecord, 'hash'>, type, fail);
  }

  #secrets({ hash, previous }: Partial<KeyRecord>, type: RecordType, fail: (wrong: string) => never): void {
    for (const one of [hash, previous?.hash]) {
      if (one !== undefined && !this.#names.add(`hash ${one}`)) fail(`another ${type} before it has the same secret`);
    }
  }
}

function parse(file: string, { number, bytes }: Omit<Line, 'read'>): Parsed {
  let value: unknown;
  try {
    value = JSON.parse(UTF8.decode(bytes));
  } catch (error) {
    throw new TransferError(`${file}, line ${number}: it is not JSON in UTF-8`, { cause: error });
  }
  if (!isObject(value)) throw new TransferError(`${file}, line ${number}: it is not a JSON object`);
  // Only an escape can produce a lone surrogate, which no state can store unchanged.
  if ((bytes.includes('\\ud') || bytes.includes('\\uD')) && /\\ud[89a-f]/.test(JSON.stringify(value)))
    throw new TransferError(`${file}, line ${number}: it has half a character`);
  return value as Parsed;
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function headerIn({ type, format, version, at, from }: Parsed, fail: (wrong: string) => never): Header {
  if (type !== 'header' || format !== FORMAT) return fail('this is not a state file of storegate');
  if (version !== FORMAT_VERSION)
    return fail(
      `the file has format ${String(version).slice(0, 20)}, and this storegate reads ${FORMAT_VERSION}: use a newer one`,
    );
  if (typeof at !== 'string' || Number.isNaN(Date.parse(at)) || typeof from !== 'string' || from.length > 100)
    return fail('the header must say when the file was written, and from what');
  return { at, from };
}

function trailerIn({ counts, sha256 }: Record<string, unknown>, fail: (wrong: string) => never): Trailer {
  const all = isObject(counts) && { ban: 0, ...counts };
  const isCounts = all && isDeepStrictEqual(Object.keys(all).sort(), [...TYPES].sort());
  if (!isCounts || typeof sha256 !== 'string') return fail('the trailer must have the counts of all types, and sha256');
  return { counts: all as unknown as Counts, sha256 };
}
