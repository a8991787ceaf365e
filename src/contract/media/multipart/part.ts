import { isAscii } from 'node:buffer';
import type { Rule } from '../../../errors/fault.ts';
import type { ValueFault } from '../../faults.ts';
import type { Reading } from '../../parameters/reading.ts';
import { unlikeIntegers } from '../../written.ts';
import { covers, isJson, isUtf8Type, type MediaType } from '../type.ts';
import { type Field, syntaxIn } from './fields.ts';
import type { Head } from './head.ts';

/** A part of a form. Its content shares the memory of the body. */
export interface Part {
  readonly head: Head;
  readonly content: Buffer;
}

const named = (type: string, subtype: string): MediaType => ({ type, subtype, parameters: new Map() });
/** A part without a Content-Type is plain text (RFC 7578 section 4.4). */
const PLAIN = named('text', 'plain');
/** The type of parts of objects where `contentType` names none (OpenAPI 3.0.3, Encoding Object). */
const OBJECT = named('application', 'json');
const BYTES = named('application', 'octet-stream');
/** Where all bytes are ASCII, these read as UTF-8 does. */
const LIKE_ASCII = /^(?:us-ascii|ascii|iso-8859-1|windows-1252)$/i;

const REPEATED: Reading = { fault: { pointer: '', message: 'is given more than once', rule: 'repeated' } };

/** The value of the parts of one name; there is at least one. */
export function readField(parts: readonly Part[], field: Field): Reading {
  if (!field.list) return parts.length > 1 ? REPEATED : readPart(parts[0]!, field);
  const entries: unknown[] = [];
  for (const [i, part] of parts.entries()) {
    const { value, fault, unlikeInteger } = readPart(part, field);
    if (fault) return { fault: { ...fault, pointer: `/${i}${fault.pointer}` } };
    if (unlikeInteger) unlikeIntegers.add(entries, i);
    entries.push(value);
  }
  return { value: isWhole(entries, field) ? entries[0] : entries, fault: null };
}

/** A single JSON part may be the whole list, unless its entries are lists too. */
const isWhole = (entries: readonly unknown[], { shape: { types } }: Field): boolean =>
  entries.length === 1 && Array.isArray(entries[0]) && types !== null && !types.has('array');

function readPart({ head, content }: Part, field: Field): Reading {
  const type = head.type ?? (field.kind === 'complex' && field.accepted === null ? OBJECT : PLAIN);
  const syntax = syntaxIn(field, type, head.filename !== null);
  const fault =
    typeFault(type, field) ??
    filenameFault(head, field, syntax === 'bytes') ??
    (syntax === 'bytes' || isReadable(type, content) ? null : wrong('must be in UTF-8', 'encoding')) ??
    headersFault(head, field);
  if (fault) return { fault };
  const reader = field.reader(syntax);
  return reader ? reader(content) : { fault: wrong('has a media type that cannot be checked', 'mediaType') };
}

function typeFault(type: MediaType, { kind, accepted, written, encoded }: Field): ValueFault | null {
  if (type.type === 'multipart') return wrong('must not have parts itself', 'mediaType');
  if (accepted) return accepted.some((range) => covers(range, type)) ? null : otherType(written);
  if (kind === 'complex') return isJson(type) ? null : otherType('application/json');
  // A string with a contentEncoding is of this type where `contentType` names none (OpenAPI 3.1, Encoding Object).
  if (kind === 'text' && encoded && covers(BYTES, type)) return null;
  if (kind === 'text') return covers(PLAIN, type) ? null : otherType('text/plain');
  return null;
}

/** `written`: the media types of the contract, divided by commas. */
const otherType = (written: string): ValueFault => ({
  ...wrong(`must be of type ${written}`, 'mediaType'),
  limit: written.split(',').map((type) => type.trim()),
});

/** Most readers take a part for a file if it has a filename, and for text if it has none. */
function filenameFault({ filename }: Head, { kind, accepted }: Field, isBytes: boolean): ValueFault | null {
  if (kind === 'file' || (kind === 'any' && isBytes))
    return filename === null ? wrong('is a file: it needs a filename', 'headers') : null;
  const mustHaveNone = kind === 'text' && accepted === null && filename !== null;
  return mustHaveNone ? wrong('is no file: it must not have a filename', 'headers') : null;
}

/** ASCII is UTF-8, but what calls itself ASCII may be read byte by byte. */
function isReadable(type: MediaType, content: Buffer): boolean {
  const charset = type.parameters.get('charset');
  return charset !== undefined && LIKE_ASCII.test(charset) ? isAscii(content) : isUtf8Type(type);
}

function headersFault({ fields }: Head, { checkHeaders }: Field): ValueFault | null {
  const [fault] = checkHeaders ? unlikeIntegers.during(() => checkHeaders(fields)) : [];
  return fault ? wrong(`has headers that do not fit: ${fault.pointer.slice(1)} ${fault.message}`, 'headers') : null;
}

const wrong = (message: string, rule: Rule): ValueFault => ({ pointer: '', message, rule });
