import { Bag } from '../../bag.ts';
import { isObject, type Json } from '../../document/source.ts';
import { MAX_FAULTS, type ValueFault } from '../../faults.ts';
import { escapeToken, printable } from '../../names.ts';
import { partsOf, requiredIn, shapeOf } from '../../parameters/shape.ts';
import type { Check } from '../../schema/schemas.ts';
import { parseMediaType } from '../type.ts';
import { createField, type Field, opaqueType, type Sources } from './fields.ts';
import { readHead } from './head.ts';
import { type Part, put, readField } from './part.ts';
import { isBoundary, nth, split } from './split.ts';

interface Form {
  fieldOf(name: string): Field;
  readonly lists: readonly string[];
}

export type CheckMultipart = (bytes: Uint8Array, contentType: string) => readonly ValueFault[];

/**
 * RFC 7578; OpenAPI 3.0.3, "Special Considerations for `multipart` Content". Each entry of a list is a part of that
 * name. Returns the reason if bodies cannot be checked.
 */
export function createMultipartCheck(sources: Sources, media: Json, check: Check): CheckMultipart | string {
  const { document, findings } = sources;
  const schema = document.object(media.schema) ?? {};
  const shape = shapeOf(document, schema);
  if (shape.types !== null && !shape.types.has('object')) return 'the schema describes no object';
  const fields = new Map<string, Field>();
  const encodings = document.object(media.encoding) ?? {};
  const members = membersOf(sources, schema);
  for (const [name, property] of members) {
    const encoding = document.object(encodings[name]);
    fields.set(name, createField(sources, property, encoding));
    for (const key of ['style', 'explode', 'allowReserved']) {
      if (encoding && key in encoding)
        findings.note(encoding, key, `is ignored in multipart, as ${document.dialect.name} says`);
    }
  }
  for (const name of Object.keys(encodings)) {
    if (!fields.has(name)) findings.note(encodings, name, 'is ignored: the schema has no such property');
  }
  for (const [name, field] of fields) {
    const type = opaqueType(field);
    if (type !== null) return `the part ${name} cannot be checked as ${type}`;
  }
  const other = createField(sources, othersOf(sources, schema), null);
  const required = requiredIn(partsOf(document, schema));
  const lists = [...members]
    .filter(([name, property]) => fields.get(name)!.list && document.object(property)?.readOnly !== true)
    .map(([name]) => name)
    .filter((name) => required.has(name));
  const form: Form = { fieldOf: (name) => fields.get(name) ?? other, lists };
  return (bytes, contentType) => checkForm(bytes, contentType, form, check);
}

function membersOf({ document }: Sources, schema: Json): Map<string, Json> {
  const all = partsOf(document, schema).flatMap(({ properties }) => document.members(properties));
  return new Map(all.filter((member): member is [string, Json] => isObject(member[1])));
}

function othersOf({ document }: Sources, schema: Json): Json | null {
  const described = partsOf(document, schema).map(({ additionalProperties }) => additionalProperties);
  return described.find(isObject) ?? null;
}

/** The charset of all texts (RFC 7578 section 4.6). */
const CHARSET = '_charset_';
const OTHER_CHARSET: ValueFault = {
  pointer: `/${CHARSET}`,
  message: 'must name UTF-8, the only charset of forms here',
  rule: 'encoding',
};
const isUtf8 = ({ content }: Part): boolean => /^utf-8$/i.test(content.toString('latin1', 0, 6));

const NO_BOUNDARY: ValueFault = {
  pointer: '',
  message: 'needs a Content-Type with one plain boundary and no more',
  rule: 'mediaType',
};

function checkForm(bytes: Uint8Array, contentType: string, form: Form, check: Check): readonly ValueFault[] {
  const boundary = boundaryOf(contentType);
  if (boundary === null) return [NO_BOUNDARY];
  const { parts, fault } = split(bytes, boundary);
  if (fault) return [fault];
  const byName = new Map<string, Part[]>();
  for (const [index, { head, content }] of parts.entries()) {
    const read = readHead(head, content.length);
    if (typeof read === 'string') return [{ pointer: '', message: `${nth(index)} ${read}`, rule: 'headers' }];
    const part = { head: read, content };
    const same = byName.get(read.name);
    if (same) same.push(part);
    else byName.set(read.name, [part]);
  }
  return checkParts(byName, form, check);
}

/** `null` if readers could use different boundaries. */
function boundaryOf(contentType: string): string | null {
  const parameters = parseMediaType(contentType)?.parameters;
  const boundary = parameters?.get('boundary');
  if (boundary === undefined || contentType.includes('\\') || !isBoundary(boundary)) return null;
  return [...parameters!.keys()].every((name) => name === 'boundary' || name === 'charset') ? boundary : null;
}

function checkParts(
  byName: ReadonlyMap<string, readonly Part[]>,
  { fieldOf, lists }: Form,
  check: Check,
): readonly ValueFault[] {
  const value = new Bag();
  const faults: ValueFault[] = byName.get(CHARSET)?.every(isUtf8) === false ? [OTHER_CHARSET] : [];
  for (const [name, parts] of byName) {
    const member = readField(parts, fieldOf(name));
    if (member.fault)
      faults.push({ ...member.fault, pointer: `/${escapeToken(printable(name))}${member.fault.pointer}` });
    else put(value, name, member);
    if (faults.length === MAX_FAULTS) break;
  }
  for (const name of lists) if (!byName.has(name)) put(value, name, { value: [], fault: null });
  return faults.length > 0 ? faults : check(value);
}
