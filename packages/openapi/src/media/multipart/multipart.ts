import { isAscii } from 'node:buffer';
import { Bag } from '../../bag.ts';
import type { Json } from '../../document/source.ts';
import {
  faultBelow,
  MAX_FAULTS,
  refuse,
  Unreadable,
  type ValueFault,
} from '../../faults.ts';
import { Marks, put, type Reading } from '../../marks.ts';
import { escapeToken, printable } from '../../names.ts';
import { hint } from '../../nearest.ts';
import { fold, isMisread } from '../../parameters/reading.ts';
import { ANYTHING, listsIn, type Shape } from '../../parameters/shape.ts';
import type { Direction } from '../../schema/directions.ts';
import type { Check, Schemas } from '../../schema/schemas.ts';
import type { Steps } from '../../slices.ts';
import type { CheckBody, Syntax } from '../reading.ts';
import {
  covers,
  isJson,
  isUtf8Type,
  type MediaType,
  parseMediaType,
} from '../type.ts';
import {
  createField,
  type Field,
  type Form,
  formOf,
  opaqueType,
  syntaxIn,
} from './fields.ts';
import { type Head, isBoundary, type Part, readParts } from './parts.ts';

/**
 * RFC 7578; OpenAPI 3.0.3, "Special Considerations for `multipart` Content". Each entry of a list
 * is a part of that name. Returns the reason if bodies cannot be checked.
 */
export function createMultipartCheck(
  schemas: Schemas,
  media: Json,
  shape: Shape,
  check: Check,
  direction: Direction,
): CheckBody | string {
  const { document } = schemas;
  const { findings } = document;
  if (shape.types !== null && !shape.types.has('object'))
    return 'the schema describes no object';
  const fields = new Map<string, Field>();
  const encodings = document.object(media.encoding) ?? {};
  for (const [name, member] of shape.members) {
    const encoding = document.object(encodings[name]);
    fields.set(name, createField(schemas, member, encoding, direction));
    for (const key of ['style', 'explode', 'allowReserved']) {
      if (encoding && key in encoding)
        findings.note(
          encoding,
          key,
          `is ignored in multipart, as ${document.dialect.name} says`,
        );
    }
  }
  for (const name of Object.keys(encodings)) {
    if (!fields.has(name))
      findings.note(
        encodings,
        name,
        'is ignored: the schema has no such property',
      );
  }
  for (const [name, field] of fields) {
    const type = opaqueType(field);
    if (type !== null) return `the part ${name} cannot be checked as ${type}`;
  }
  const other = createField(schemas, shape.others ?? ANYTHING, null, direction);
  const lists = listsIn(document, shape, direction);
  const names = [...fields.keys()];
  const folded = new Set(names.map(fold));
  return function* checkMultipart(bytes, contentType) {
    const byName = Map.groupBy(
      readParts(bytes, boundaryOf(contentType)),
      ({ head }) => head.name,
    );
    const { value, marks, faults } = yield* readForm(byName, (name) => {
      const field = fields.get(name);
      if (field === undefined && isMisread(name, folded))
        refuse(
          `is not defined in the contract${hint(name, names)}`,
          'additionalProperties',
        );
      return field ?? other;
    });
    for (const name of lists) if (!byName.has(name)) value[name] = [];
    return faults.length > 0 ? faults : yield* check.steps(value, { marks });
  };
}

/** The charset of all texts (RFC 7578 section 4.6). */
const CHARSET = '_charset_';
const OTHER_CHARSET: ValueFault = {
  pointer: `/${CHARSET}`,
  message: 'must name UTF-8, the only charset of forms here',
  rule: 'encoding',
};
const isUtf8 = ({ content }: Part) =>
  /^utf-8$/i.test(content.toString('latin1', 0, 6));

/** Readers could use different boundaries. */
function boundaryOf(contentType: string): string {
  const parameters =
    parseMediaType(contentType)?.parameters ?? new Map<string, string>();
  const boundary = parameters.get('boundary') ?? '';
  const only = parameters
    .keys()
    .every((name) => name === 'boundary' || name === 'charset');
  if (contentType.includes('\\') || !isBoundary(boundary) || !only) {
    refuse(
      'needs a Content-Type with one plain boundary and no more',
      'mediaType',
    );
  }
  return boundary;
}

function* readForm(
  byName: ReadonlyMap<string, readonly Part[]>,
  fieldOf: (name: string) => Field,
) {
  const value = new Bag();
  const marks = new Marks();
  const faults: ValueFault[] =
    byName.get(CHARSET)?.every(isUtf8) === false ? [OTHER_CHARSET] : [];
  for (const [name, parts] of byName) {
    try {
      put(value, name, yield* readField(parts, fieldOf(name)), marks);
    } catch (thrown) {
      faults.push(faultBelow(`/${escapeToken(printable(name))}`, thrown));
    }
    if (faults.length === MAX_FAULTS) break;
  }
  return { value, marks, faults };
}

/** RFC 7578 section 4.4. */
const PLAIN = parseMediaType('text/plain')!;
/** OpenAPI 3.0.3, Encoding Object. */
const OBJECT = parseMediaType('application/json')!;
const STARTS: ReadonlyMap<number | undefined, string> = new Map([
  [0x7b, 'object'],
  [0x5b, 'array'],
]);
const BLANKS: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);
/** If all bytes are ASCII, these charsets equal UTF-8. */
const LIKE_ASCII = /^(?:us-ascii|ascii|iso-8859-1|windows-1252)$/i;

function* readField(parts: readonly Part[], field: Field): Steps<Reading> {
  if (!field.list) {
    if (parts.length > 1) refuse('is given more than once', 'repeated');
    return yield* readPart(parts[0]!, field);
  }
  const entries: unknown[] = [];
  const marks = new Marks();
  for (const [i, part] of parts.entries()) {
    try {
      put(entries, i, yield* readPart(part, field), marks);
    } catch (thrown) {
      throw new Unreadable(faultBelow(`/${i}`, thrown));
    }
  }
  if (!isWhole(entries, field.form)) return { value: entries, marks };
  const [whole] = entries as [unknown[]];
  if (field.file !== null)
    for (const i of whole.keys()) marks.noFiles.add(whole, i);
  return { value: whole, marks };
}

/** A single JSON part may be the whole list, unless its entries are lists too. */
const isWhole = (entries: readonly unknown[], { shape: { types } }: Form) =>
  entries.length === 1 &&
  Array.isArray(entries[0]) &&
  types !== null &&
  !types.has('array');

function* readPart({ head, content }: Part, field: Field): Steps<Reading> {
  const form = formOf(field, head.type, head.filename);
  const type =
    head.type ?? (field.accepted === null ? usualType(form, content) : PLAIN);
  const syntax = syntaxIn(form, type, head.filename !== null);
  checkType(type, form, field);
  checkFilename(head, form, syntax, field.accepted !== null);
  if (syntax !== 'bytes' && !isReadable(type, content))
    refuse('must be in UTF-8', 'encoding');
  checkHead(head, field);
  const reader =
    form.reader(syntax) ??
    refuse('has a media type that cannot be checked', 'mediaType');
  yield;
  const reading = yield* reader(content);
  if (field.file === null || form === field.file) return reading;
  const marks = reading.marks ?? new Marks();
  marks.noFiles.add();
  return { value: reading.value, marks };
}

/** Some readers treat text that begins like JSON as JSON. */
function usualType(
  { kind, shape: { types } }: Form,
  content: Buffer,
): MediaType {
  if (kind === 'complex') return OBJECT;
  const start =
    kind === 'either'
      ? STARTS.get(content.find((byte) => !BLANKS.has(byte)))
      : undefined;
  return start !== undefined && types!.has(start) ? OBJECT : PLAIN;
}

function checkType(
  type: MediaType,
  { kind, encoded }: Form,
  { accepted, written }: Field,
): void {
  if (type.type === 'multipart')
    refuse('must not have parts itself', 'mediaType');
  const isPlain = covers(PLAIN, type);
  const isAccepted = accepted?.some((range) => covers(range, type));
  if (isAccepted !== undefined) requireType(isAccepted, written);
  else if (kind === 'complex') requireType(isJson(type), 'application/json');
  else if (kind === 'either')
    requireType(isJson(type) || isPlain, 'application/json, text/plain');
  else if (kind === 'text' && !encoded) requireType(isPlain, 'text/plain');
}

function requireType(fits: boolean, written: string): void {
  if (fits) return;
  const limit = written.split(',').map((type) => type.trim());
  refuse(`must be of type ${written}`, 'mediaType', '', limit);
}

function checkFilename(
  { filename }: Head,
  { kind, encoded }: Form,
  syntax: Syntax,
  named: boolean,
): void {
  const isFile = kind === 'file' || (kind === 'any' && syntax === 'bytes');
  if (isFile && filename === null)
    refuse('is a file: it needs a filename', 'headers');
  const isText =
    (kind === 'text' && !encoded) || (kind === 'either' && syntax === 'text');
  if (isText && !named && filename !== null)
    refuse('is not a file: it must not have a filename', 'headers');
}

/** Some readers read a part declared as ASCII byte by byte. */
function isReadable(type: MediaType, content: Buffer): boolean {
  const charset = type.parameters.get('charset');
  return charset !== undefined && LIKE_ASCII.test(charset)
    ? isAscii(content)
    : isUtf8Type(type);
}

function checkHead({ fields }: Head, { checkHeaders }: Field): void {
  const [fault] = checkHeaders(fields);
  if (fault)
    refuse(
      `has headers that do not fit: ${fault.pointer.slice(1)} ${fault.message}`,
      'headers',
    );
}
