import { isAscii } from 'node:buffer';
import type { Rule } from '../../fault.ts';
import type { ValueFault } from '../../faults.ts';
import type { Reading } from '../../parameters/reading.ts';
import { noFiles, unlikeIntegers } from '../../value-marks.ts';
import type { Syntax } from '../reading.ts';
import { covers, isJson, isUtf8Type, type MediaType } from '../type.ts';
import { type Field, type Form, formOf, syntaxIn } from './fields.ts';
import type { Head } from './head.ts';

/** The content shares the memory of the body. */
export interface Part {
  readonly head: Head;
  readonly content: Buffer;
}

const named = (type: string, subtype: string): MediaType => ({ type, subtype, parameters: new Map() });
/** RFC 7578 section 4.4. */
const PLAIN = named('text', 'plain');
/** OpenAPI 3.0.3, Encoding Object. */
const OBJECT = named('application', 'json');
const BYTES = named('application', 'octet-stream');
const STARTS: ReadonlyMap<number | undefined, string> = new Map([
  [0x7b, 'object'],
  [0x5b, 'array'],
]);
const BLANKS: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);
/** If all bytes are ASCII, these charsets equal UTF-8. */
const LIKE_ASCII = /^(?:us-ascii|ascii|iso-8859-1|windows-1252)$/i;

const REPEATED: Reading = { fault: { pointer: '', message: 'is given more than once', rule: 'repeated' } };

type Value = Reading & { readonly noFile?: boolean };

export function put(holder: object, key: string | number, { value, unlikeInteger, noFile }: Value): void {
  (holder as Record<string | number, unknown>)[key] = value;
  if (unlikeInteger) unlikeIntegers.add(holder, key);
  if (noFile) noFiles.add(holder, key);
}

export function readField(parts: readonly Part[], field: Field): Value {
  if (!field.list) return parts.length > 1 ? REPEATED : readPart(parts[0]!, field);
  const entries: unknown[] = [];
  for (const [i, part] of parts.entries()) {
    const entry = readPart(part, field);
    if (entry.fault) return { fault: { ...entry.fault, pointer: `/${i}${entry.fault.pointer}` } };
    put(entries, i, entry);
  }
  if (!isWhole(entries, field.form)) return { value: entries, fault: null };
  const [whole] = entries as [unknown[]];
  if (field.file !== null) for (const i of whole.keys()) noFiles.add(whole, i);
  return { value: whole, fault: null };
}

/** A single JSON part may be the whole list, unless its entries are lists too. */
const isWhole = (entries: readonly unknown[], { shape: { types } }: Form): boolean =>
  entries.length === 1 && Array.isArray(entries[0]) && types !== null && !types.has('array');

function readPart({ head, content }: Part, field: Field): Value {
  const form = formOf(field, head.type, head.filename);
  const type = head.type ?? (field.accepted === null ? usualType(form, content) : PLAIN);
  const syntax = syntaxIn(form, type, head.filename !== null);
  const fault =
    typeFault(type, form, field) ??
    filenameFault(head, form, syntax, field.accepted !== null) ??
    (syntax === 'bytes' || isReadable(type, content) ? null : wrong('must be in UTF-8', 'encoding')) ??
    headersFault(head, field);
  if (fault) return { fault };
  const reader = form.reader(syntax);
  if (!reader) return { fault: wrong('has a media type that cannot be checked', 'mediaType') };
  return { ...reader(content), noFile: field.file !== null && form !== field.file };
}

/** Some readers treat text that begins like JSON as JSON. */
function usualType({ kind, shape: { types } }: Form, content: Buffer): MediaType {
  if (kind === 'complex') return OBJECT;
  const start = kind === 'either' ? STARTS.get(content.find((byte) => !BLANKS.has(byte))) : undefined;
  return start !== undefined && types!.has(start) ? OBJECT : PLAIN;
}

function typeFault(type: MediaType, { kind, encoded }: Form, { accepted, written }: Field): ValueFault | null {
  if (type.type === 'multipart') return wrong('must not have parts itself', 'mediaType');
  if (accepted) return accepted.some((range) => covers(range, type)) ? null : otherType(written);
  if (kind === 'complex') return isJson(type) ? null : otherType('application/json');
  if (kind === 'either') return isJson(type) || covers(PLAIN, type) ? null : otherType('application/json, text/plain');
  // OpenAPI 3.1, Encoding Object: the default for `contentEncoding`.
  if (kind === 'text' && encoded && covers(BYTES, type)) return null;
  if (kind === 'text') return covers(PLAIN, type) ? null : otherType('text/plain');
  return null;
}

const otherType = (written: string): ValueFault => ({
  ...wrong(`must be of type ${written}`, 'mediaType'),
  limit: written.split(',').map((type) => type.trim()),
});

function filenameFault({ filename }: Head, { kind }: Form, syntax: Syntax, named: boolean): ValueFault | null {
  if (kind === 'file' || (kind === 'any' && syntax === 'bytes'))
    return filename === null ? wrong('is a file: it needs a filename', 'headers') : null;
  const isText = kind === 'text' || (kind === 'either' && syntax === 'text');
  const mustHaveNone = isText && !named && filename !== null;
  return mustHaveNone ? wrong('is not a file: it must not have a filename', 'headers') : null;
}

/** Some readers read a part declared as ASCII byte by byte. */
function isReadable(type: MediaType, content: Buffer): boolean {
  const charset = type.parameters.get('charset');
  return charset !== undefined && LIKE_ASCII.test(charset) ? isAscii(content) : isUtf8Type(type);
}

function headersFault({ fields }: Head, { checkHeaders }: Field): ValueFault | null {
  const [fault] = checkHeaders ? unlikeIntegers.during(() => noFiles.during(() => checkHeaders(fields))) : [];
  return fault ? wrong(`has headers that do not fit: ${fault.pointer.slice(1)} ${fault.message}`, 'headers') : null;
}

const wrong = (message: string, rule: Rule): ValueFault => ({ pointer: '', message, rule });
