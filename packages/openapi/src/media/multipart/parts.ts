import { refuse } from '../../faults.ts';
import { decode } from '../../parameters/reading.ts';
import { decodeUtf8 } from '../../utf8.ts';
import { type MediaType, parseMediaType } from '../type.ts';

export const MAX_PARTS = 1000;
/** In bytes, for one part. */
export const MAX_HEAD = 4096;

export interface Head {
  readonly name: string;
  readonly filename: string | null;
  readonly type: MediaType | null;
  readonly fields: readonly string[];
}

interface Sections<T> {
  readonly head: T;
  /** It shares the memory of the body. */
  readonly content: Buffer;
}

export type Part = Sections<Head>;

/** RFC 2046 section 5.1.1, without the space, which some readers cut off. */
const BOUNDARY = /^[0-9A-Za-z'()+_,./:=?-]{1,70}$/;

export const isBoundary = (text: string): boolean => BOUNDARY.test(text);

const CRLF = Buffer.from('\r\n');
const DASHES = Buffer.from('--');
const END_OF_HEAD = Buffer.from('\r\n\r\n');

/** @throws Unreadable */
export function readParts(bytes: Uint8Array, boundary: string): Part[] {
  return split(bytes, boundary).map(({ head, content }, index) => {
    const read = readHead(head, content.length);
    if (typeof read === 'string') refuse(`${nth(index)} ${read}`, 'headers');
    return { head: read, content };
  });
}

/**
 * Stricter than RFC 2046 section 5.1.1, because lenient readers differ: every line ends with CR LF,
 * nothing surrounds the parts except one final CR LF, and no part contains the boundary. Takes
 * linear time and copies nothing.
 */
function split(bytes: Uint8Array, boundary: string): Sections<Buffer>[] {
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const delimiter = Buffer.from(`--${boundary}`);
  if (!isAt(body, 0, delimiter))
    refuse(
      'must begin with the boundary that its Content-Type names',
      'syntax',
    );
  const parts: Sections<Buffer>[] = [];
  for (let at = delimiter.length; ; ) {
    if (isAt(body, at, DASHES)) {
      const end = at + DASHES.length;
      const over =
        end === body.length ||
        (end + CRLF.length === body.length && isAt(body, end, CRLF));
      if (!over) refuse('has something after its end', 'syntax');
      return parts;
    }
    if (!isAt(body, at, CRLF))
      refuse('has a boundary that is not a line of its own', 'syntax');
    if (parts.length === MAX_PARTS)
      refuse(`has more than ${MAX_PARTS} parts`, 'complexity');
    const start = at + CRLF.length;
    const next = body.indexOf(delimiter, start);
    if (next < 0)
      refuse(
        `has no end: ${nth(parts.length)} is not followed by the boundary`,
        'syntax',
      );
    const end = next - CRLF.length;
    if (end < start || !isAt(body, end, CRLF))
      refuse(`has its boundary inside ${nth(parts.length)}`, 'syntax');
    const length = body
      .subarray(start, Math.min(end, start + MAX_HEAD + END_OF_HEAD.length))
      .indexOf(END_OF_HEAD);
    if (length < 0) {
      const where = `of headers in ${nth(parts.length)}`;
      if (end - start > MAX_HEAD)
        refuse(`has more than ${MAX_HEAD} bytes ${where}`, 'complexity');
      refuse(`has no end ${where}`, 'syntax');
    }
    const content = start + length + END_OF_HEAD.length;
    parts.push({
      head: body.subarray(start, start + length),
      content: body.subarray(content, end),
    });
    at = next + delimiter.length;
  }
}

const nth = (index: number) => `part ${index + 1}`;

const isAt = (body: Buffer, at: number, bytes: Buffer) =>
  at + bytes.length <= body.length &&
  body.compare(bytes, 0, bytes.length, at, at + bytes.length) === 0;

/** A line that ends with a space is invalid. */
const FIELD = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+): *([^ ].*[^ ]|[^ ]|)$/;
/** Some readers cut off control characters, including tabs, and others keep them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for.
const CONTROL = /[\0-\x1f\x7f]/;
const FORM_DATA = /^form-data(?=;|$)/i;
const PARAMETER =
  /; *(name|filename|filename\*)=(?:"([^"]*)"|([!#$%&'*+.^_`|~0-9A-Za-z-]+))/iy;
/** PHP also treats these as quotes. */
const SINGLE_QUOTE = "'";
/**
 * Readers differ in decoding these: escapes (RFC 822), `%22` (WHATWG) and encoded words (RFC 2047).
 */
const ENCODED = /\\|%22|%0[ad]|=\?/i;
const UNENCODED = /^(?:binary|8bit|7bit)$/i;

/**
 * Strict (RFC 7578 section 4): each header once, in one line; nothing that readers decode
 * differently. Returns a sentence if the head is invalid.
 */
function readHead(bytes: Uint8Array, contentLength: number): Head | string {
  const text = decodeUtf8(bytes);
  if (text === null) return 'has headers that are not UTF-8';
  const fields: string[] = [];
  const values = new Map<string, string>();
  for (const line of text.split('\r\n')) {
    const [, name, value] = FIELD.exec(line) ?? [];
    if (name === undefined || value === undefined || CONTROL.test(line))
      return 'has an invalid header line';
    if (values.has(name.toLowerCase())) return 'has a header twice';
    values.set(name.toLowerCase(), value);
    fields.push(name, value);
  }
  const complaint = complaintOf(values, contentLength);
  if (complaint !== null) return complaint;
  const disposition = readDisposition(values.get('content-disposition') ?? '');
  if (typeof disposition === 'string') return disposition;
  const written = values.get('content-type');
  const type = written === undefined ? null : parseMediaType(written);
  if (written !== undefined && type === null)
    return 'has an invalid Content-Type';
  const chosen =
    disposition.filename !== '' ||
    (contentLength === 0 && (type === null || isBytes(type)));
  return chosen
    ? { ...disposition, type, fields }
    : 'has a file without a filename';
}

/**
 * Browsers send an unselected file as no bytes of this type, other clients without a type. Some
 * readers treat everything else without a filename as text.
 */
const isBytes = (type: MediaType | null) =>
  type?.type === 'application' && type.subtype === 'octet-stream';

/** Most readers ignore these headers (RFC 7578 section 4.8), so they must have no effect. */
function complaintOf(
  values: ReadonlyMap<string, string>,
  contentLength: number,
): string | null {
  const length = values.get('content-length');
  if (length !== undefined && length !== String(contentLength))
    return 'has a Content-Length that is not its length';
  const encoding = values.get('content-transfer-encoding');
  if (encoding !== undefined && !UNENCODED.test(encoding))
    return 'must not have a Content-Transfer-Encoding';
  return values.has('content-encoding')
    ? 'must not have a Content-Encoding'
    : null;
}

function readDisposition(
  text: string,
): Pick<Head, 'name' | 'filename'> | string {
  const start = FORM_DATA.exec(text)?.[0];
  if (start === undefined)
    return 'must have a Content-Disposition of form-data';
  const values = new Map<string, string>();
  for (let at = start.length; at < text.length; at = PARAMETER.lastIndex) {
    PARAMETER.lastIndex = at;
    const [whole, key, quoted, token] = PARAMETER.exec(text) ?? [];
    if (whole === undefined || key === undefined)
      return 'must have nothing but name and filename in Content-Disposition';
    if (values.has(key.toLowerCase()))
      return `has a ${key.toLowerCase()} twice`;
    if (token?.includes(SINGLE_QUOTE) && key.toLowerCase() !== 'filename*')
      return `has a ${key.toLowerCase()} that readers read differently`;
    values.set(key.toLowerCase(), quoted ?? token!);
  }
  const name = values.get('name');
  if (name === undefined || name === '') return 'has no name';
  if (ENCODED.test(name)) return 'has a name that readers decode differently';
  const filename = values.get('filename') ?? null;
  if (filename !== null && isUnclear(filename))
    return 'has a filename that readers read differently';
  const extended = values.get('filename*');
  if (extended !== undefined && decodeExtended(extended) !== filename) {
    return 'has a filename* that is not the filename, and no form may have one';
  }
  return { name, filename };
}

/** Some readers keep only what follows the last slash. */
const isUnclear = (filename: string) =>
  ENCODED.test(filename) ||
  filename.includes('/') ||
  filename === '.' ||
  filename === '..';

/** RFC 8187, which RFC 7578 section 4.2 forbids in forms. .NET adds it to each filename. */
function decodeExtended(text: string): string | undefined {
  const [, encoded] = /^utf-8''([^']*)$/i.exec(text) ?? [];
  return encoded === undefined ? undefined : decode(encoded, 'percent');
}
