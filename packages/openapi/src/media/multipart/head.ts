import { decodeUtf8 } from '../../utf8.ts';
import { type MediaType, parseMediaType } from '../type.ts';

export interface Head {
  readonly name: string;
  readonly filename: string | null;
  readonly type: MediaType | null;
  readonly fields: readonly string[];
}

/** A line that ends with a space is invalid. */
const FIELD = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+): *([^ ].*[^ ]|[^ ]|)$/;
/** Some readers cut off control characters, including tabs, and others keep them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for.
const CONTROL = /[\0-\x1f\x7f]/;
const FORM_DATA = /^form-data(?=;|$)/i;
const PARAMETER = /; *(name|filename|filename\*)=(?:"([^"]*)"|([!#$%&'*+.^_`|~0-9A-Za-z-]+))/iy;
/** PHP also treats these as quotes. */
const SINGLE_QUOTE = "'";
/** Readers differ in decoding these: escapes (RFC 822), `%22` (WHATWG) and encoded words (RFC 2047). */
const ENCODED = /\\|%22|%0[ad]|=\?/i;
const UNENCODED = /^(?:binary|8bit|7bit)$/i;

/**
 * Strict (RFC 7578 section 4): each header once, in one line; nothing that readers decode differently. Returns a
 * sentence if the head is invalid.
 */
export function readHead(bytes: Uint8Array, contentLength: number): Head | string {
  const text = decodeUtf8(bytes);
  if (text === null) return 'has headers that are not UTF-8';
  const fields: string[] = [];
  const known = new Map<string, string>();
  for (const line of text.split('\r\n')) {
    const [, name, value] = FIELD.exec(line) ?? [];
    if (name === undefined || value === undefined || CONTROL.test(line)) return 'has an invalid header line';
    if (known.has(name.toLowerCase())) return 'has a header twice';
    known.set(name.toLowerCase(), value);
    fields.push(name, value);
  }
  const complaint = complaintOf(known, contentLength);
  if (complaint !== null) return complaint;
  const disposition = readDisposition(known.get('content-disposition') ?? '');
  if (typeof disposition === 'string') return disposition;
  const written = known.get('content-type');
  const type = written === undefined ? null : parseMediaType(written);
  if (written !== undefined && type === null) return 'has an invalid Content-Type';
  const chosen = disposition.filename !== '' || (contentLength === 0 && (type === null || isBytes(type)));
  return chosen ? { ...disposition, type, fields } : 'has a file without a filename';
}

/**
 * Browsers send an unselected file as no bytes of this type, other clients without a type. Some readers treat
 * everything else without a filename as text.
 */
const isBytes = (type: MediaType | null): boolean => type?.type === 'application' && type.subtype === 'octet-stream';

/** Most readers ignore these headers (RFC 7578 section 4.8), so they must have no effect. */
function complaintOf(known: ReadonlyMap<string, string>, contentLength: number): string | null {
  const length = known.get('content-length');
  if (length !== undefined && length !== String(contentLength)) return 'has a Content-Length that is not its length';
  const encoding = known.get('content-transfer-encoding');
  if (encoding !== undefined && !UNENCODED.test(encoding)) return 'must not have a Content-Transfer-Encoding';
  return known.has('content-encoding') ? 'must not have a Content-Encoding' : null;
}

function readDisposition(text: string): Pick<Head, 'name' | 'filename'> | string {
  const start = FORM_DATA.exec(text)?.[0];
  if (start === undefined) return 'must have a Content-Disposition of form-data';
  const values = new Map<string, string>();
  for (let at = start.length; at < text.length; at = PARAMETER.lastIndex) {
    PARAMETER.lastIndex = at;
    const [whole, key, quoted, token] = PARAMETER.exec(text) ?? [];
    if (whole === undefined || key === undefined)
      return 'must have nothing but name and filename in Content-Disposition';
    if (values.has(key.toLowerCase())) return `has a ${key.toLowerCase()} twice`;
    if (token?.includes(SINGLE_QUOTE) && key.toLowerCase() !== 'filename*')
      return `has a ${key.toLowerCase()} that readers read differently`;
    values.set(key.toLowerCase(), quoted ?? token!);
  }
  const name = values.get('name');
  if (name === undefined || name === '') return 'has no name';
  if (ENCODED.test(name)) return 'has a name that readers decode differently';
  const filename = values.get('filename') ?? null;
  if (filename !== null && isUnclear(filename)) return 'has a filename that readers read differently';
  const extended = values.get('filename*');
  if (extended !== undefined && decodeExtended(extended) !== filename) {
    return 'has a filename* that is not the filename, and no form may have one';
  }
  return { name, filename };
}

/** Some readers keep only what follows the last slash. */
const isUnclear = (filename: string): boolean =>
  ENCODED.test(filename) || filename.includes('/') || filename === '.' || filename === '..';

/** RFC 8187, which RFC 7578 section 4.2 forbids in forms. .NET adds it to each filename. */
function decodeExtended(text: string): string | undefined {
  const [, encoded] = /^utf-8''([^']*)$/i.exec(text) ?? [];
  if (encoded === undefined) return undefined;
  try {
    return decodeURIComponent(encoded);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}
