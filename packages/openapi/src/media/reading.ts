import { Binary } from '../binary.ts';
import type { Document } from '../document/document.ts';
import type { Json } from '../document/source.ts';
import type { JsonResult } from '../fault.ts';
import { faultOfJson, readJson, readJsonInSteps } from '../json.ts';
import { type Reading, read } from '../parameters/reading.ts';
import { partsOf, type Shape, shapeOf } from '../parameters/shape.ts';
import { decodeUtf8 } from '../utf8.ts';
import { isJson, isXml, type MediaType } from './type.ts';
import { createXmlReader } from './xml/xml.ts';

export type ReadBytes = (bytes: Uint8Array) => Reading;

/** Unknown media types are `bytes`. */
export type Syntax = 'json' | 'form' | 'multipart' | 'xml' | 'text' | 'bytes';

export function syntaxOf(type: MediaType): Syntax {
  if (isJson(type)) return 'json';
  if (isXml(type)) return 'xml';
  if (type.type === 'application' && type.subtype === 'x-www-form-urlencoded') return 'form';
  if (type.type === 'multipart' && type.subtype === 'form-data') return 'multipart';
  return type.type === 'text' ? 'text' : 'bytes';
}

/** Returns a sentence if the syntax cannot express what the schema describes. A `null` schema allows anything. */
export function createReader(
  document: Document,
  schema: Json | null,
  syntax: Exclude<Syntax, 'form' | 'multipart'>,
): ReadBytes | string {
  if (syntax === 'json') return (bytes) => readJsonBytes(bytes, document.reading.maxDepth);
  if (syntax === 'xml') return createXmlReader(document, schema);
  const shape = shapeOf(document, schema ?? {});
  if (shape.binary) return readBinary;
  const textual = shape.types === null || PRIMITIVES.some((type) => shape.types?.has(type));
  if (syntax === 'text') return textual ? (bytes) => readText(bytes, shape) : 'the schema describes no text';
  if (shape.types?.has('string') === false)
    return 'only their length can be checked, and the schema describes no string';
  if (hasKeyword(document, schema, document.dialect.textual)) return (bytes) => readText(bytes, shape);
  const open = shape.types === null && !hasKeyword(document, schema, ['minLength', 'maxLength']);
  return open ? readBinary : readLatin1;
}

function readJsonBytes(bytes: Uint8Array, maxDepth: number | undefined): Reading {
  return readingOf(readJson(bytes, maxDepth));
}

export function* readJsonSteps(bytes: Uint8Array, document: Document): Generator<void, Reading, void> {
  return readingOf(yield* readJsonInSteps(bytes, document.reading.maxDepth));
}

function readingOf(result: JsonResult): Reading {
  return result.fault ? { fault: faultOfJson(result.fault, true) } : result;
}

const readBinary: ReadBytes = (bytes) => ({ value: new Binary(bytes), fault: null });

/** One character per byte, so that lengths count bytes. */
const readLatin1: ReadBytes = (bytes) => ({ value: Buffer.from(bytes).toString('latin1'), fault: null });

/** Some readers keep a byte order mark as text and others drop it. */
function readText(bytes: Uint8Array, shape: Shape): Reading {
  const text = decodeUtf8(bytes);
  if (text === null) return { fault: { pointer: '', message: 'is not UTF-8', rule: 'encoding' } };
  if (text.startsWith('\ufeff'))
    return { fault: { pointer: '', message: 'begins with a byte order mark', rule: 'encoding' } };
  return read({ form: 'primitive', text }, shape, 'none');
}

const PRIMITIVES = ['string', 'integer', 'number', 'boolean'];

const hasKeyword = (document: Document, schema: Json | null, keywords: readonly string[]): boolean =>
  partsOf(document, schema ?? {}).some((part) => keywords.some((keyword) => part[keyword] !== undefined));
