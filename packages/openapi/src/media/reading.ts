import { Binary } from '../binary.ts';
import type { Document } from '../document/document.ts';
import { refuse, type ValueFault } from '../faults.ts';
import { readJsonInSteps } from '../json.ts';
import type { Reading } from '../marks.ts';
import type { Keep } from '../parameters/parameter.ts';
import { read } from '../parameters/reading.ts';
import { PRIMITIVES, type Shape } from '../parameters/shape.ts';
import type { Direction } from '../schema/directions.ts';
import type { Steps } from '../slices.ts';
import { textOf } from '../utf8.ts';
import { isJson, isXml, type MediaType } from './type.ts';
import { createXmlReader } from './xml/xml.ts';

/** In steps. @throws Unreadable */
export type ReadBytes = (bytes: Uint8Array) => Steps<Reading>;

/** In steps. `keep` gets the value. @throws Unreadable */
export type CheckBody = (
  bytes: Uint8Array,
  contentType: string,
  keep?: Keep,
) => Steps<readonly ValueFault[]>;

/** Unknown media types are `bytes`. */
export type Syntax = 'json' | 'form' | 'multipart' | 'xml' | 'text' | 'bytes';

export function syntaxOf(type: MediaType): Syntax {
  if (isJson(type)) return 'json';
  if (isXml(type)) return 'xml';
  if (type.type === 'application' && type.subtype === 'x-www-form-urlencoded')
    return 'form';
  if (type.type === 'multipart' && type.subtype === 'form-data')
    return 'multipart';
  return type.type === 'text' ? 'text' : 'bytes';
}

/** Returns a sentence if the syntax cannot express what the schema describes. */
export function createReader(
  document: Document,
  shape: Shape,
  syntax: Exclude<Syntax, 'form' | 'multipart'>,
  direction: Direction,
): ReadBytes | string {
  if (syntax === 'json')
    return (bytes) => readJsonInSteps(bytes, document.reading.maxDepth);
  if (syntax === 'xml') return createXmlReader(document, shape, direction);
  const read = createTextReader(document, shape, syntax);
  if (typeof read === 'string') return read;
  // biome-ignore lint/correctness/useYield: it is a single step.
  return function* readAtOnce(bytes) {
    return read(bytes);
  };
}

type ReadAtOnce = (bytes: Uint8Array) => Reading;

function createTextReader(
  { dialect }: Document,
  shape: Shape,
  syntax: 'text' | 'bytes',
): ReadAtOnce | string {
  if (shape.binary) return readBinary;
  const textual = !shape.types?.isDisjointFrom(PRIMITIVES);
  if (syntax === 'text')
    return textual
      ? (bytes) => readText(bytes, shape)
      : 'the schema describes no text';
  if (shape.types?.has('string') === false)
    return 'only their length can be checked, and the schema describes no string';
  const has = (keywords: readonly string[]) =>
    shape.parts.some((part) =>
      keywords.some((keyword) => part[keyword] !== undefined),
    );
  if (has(dialect.textual)) return (bytes) => readText(bytes, shape);
  const open = shape.types === null && !has(['minLength', 'maxLength']);
  return open ? readBinary : readLatin1;
}

const readBinary: ReadAtOnce = (bytes) => ({ value: new Binary(bytes) });

/** One character per byte, so that lengths count bytes. */
const readLatin1: ReadAtOnce = (bytes) => ({
  value: Buffer.from(bytes).toString('latin1'),
});

/** Some readers keep a byte order mark as text and others drop it. */
function readText(bytes: Uint8Array, shape: Shape): Reading {
  const text = textOf(bytes);
  if (text.startsWith('\ufeff'))
    refuse('begins with a byte order mark', 'encoding');
  return { value: read({ form: 'primitive', text }, shape, 'none') };
}
