import type { Document } from '../../document/document.ts';
import { type Json, objectsIn } from '../../document/source.ts';
import type { CheckHeaders } from '../../parameters/checker.ts';
import { readHeaders } from '../../parameters/headers.ts';
import { PRIMITIVES, type Shape, shapeOf } from '../../parameters/shape.ts';
import type { Direction } from '../../schema/directions.ts';
import type { Schemas } from '../../schema/schemas.ts';
import {
  createReader,
  type ReadBytes,
  type Syntax,
  syntaxOf,
} from '../reading.ts';
import { covers, isJson, type MediaType, parseMediaType } from '../type.ts';

/** `contentType` describes it (OpenAPI 3.0.3, Encoding Object, `headers`). */
const ONLY_TYPE = ['content-type'];

type Content = Exclude<Syntax, 'form' | 'multipart'>;

type Kind = 'file' | 'text' | 'complex' | 'either' | 'any';

export interface Form {
  readonly shape: Shape;
  readonly kind: Kind;
  /**
   * Text of `contentEncoding`, which is a file of any type by default (OpenAPI 3.1, Encoding
   * Object, `contentType`).
   */
  readonly encoded: boolean;
  /** `null` if the part cannot have this syntax. */
  reader(syntax: Content): ReadBytes | null;
}

export interface Field {
  readonly list: boolean;
  readonly form: Form;
  /** `null` unless a part may be a file or something else. */
  readonly file: Form | null;
  /** `null` if the contract names no media types. */
  readonly accepted: readonly MediaType[] | null;
  readonly written: string;
  readonly checkHeaders: CheckHeaders;
}

export function createField(
  schemas: Schemas,
  shape: Shape,
  encoding: Json | null,
  direction: Direction,
): Field {
  const { document } = schemas;
  const list = shape.types?.has('array') === true;
  const item = list ? shape.items : shape;
  const { files, others } = alternatives(document, item);
  const both = files.length > 0 && others.length > 0;
  const accepted = encoding ? readTypes(document, encoding) : null;
  return {
    list,
    form: createForm(
      document,
      both ? shapeOf(document, { anyOf: others }) : item,
      direction,
    ),
    file: both
      ? createForm(document, shapeOf(document, { anyOf: files }), direction)
      : null,
    accepted,
    written: accepted ? String(encoding?.contentType) : '',
    checkHeaders: readHeaders(schemas, encoding?.headers, ONLY_TYPE),
  };
}

function createForm(
  document: Document,
  shape: Shape,
  direction: Direction,
): Form {
  const readers = new Map<Content, ReadBytes | string>();
  const kind = kindOf(shape);
  return {
    shape,
    kind,
    encoded: kind === 'text' && shape.parts.some(document.dialect.isEncoded),
    reader(syntax) {
      const reader =
        readers.get(syntax) ?? createReader(document, shape, syntax, direction);
      readers.set(syntax, reader);
      return typeof reader === 'string' ? null : reader;
    },
  };
}

/** Without null, because a part is never null. */
function alternatives(document: Document, { schema }: Shape) {
  const all = (schema ? leaves(document, schema, new Set()) : []).map(
    (leaf) => [leaf, shapeOf(document, leaf)] as const,
  );
  const isNull = ({ types }: Shape) =>
    types !== null && [...types].every((type) => type === 'null');
  return {
    files: all.filter(([, { binary }]) => binary).map(([leaf]) => leaf),
    others: all
      .filter(([, shape]) => !shape.binary && !isNull(shape))
      .map(([leaf]) => leaf),
  };
}

function leaves(
  document: Document,
  schema: Json,
  seen: ReadonlySet<Json>,
): Json[] {
  const node = document.object(schema);
  if (!node || seen.has(node)) return [];
  const within = (parts: readonly Json[]) =>
    parts.flatMap((part) => leaves(document, part, new Set([...seen, node])));
  const options = [...objectsIn(node.oneOf), ...objectsIn(node.anyOf)];
  if (options.length > 0) return within(options);
  const beside = document.beside(node);
  const parts = [...objectsIn(node.allOf), ...(beside ? [beside] : [])];
  return parts.length === 1 && node.type === undefined ? within(parts) : [node];
}

function readTypes(
  { findings }: Document,
  encoding: Json,
): readonly MediaType[] | null {
  if (typeof encoding.contentType !== 'string') return null;
  const types: MediaType[] = [];
  for (const text of encoding.contentType.split(',')) {
    const type = parseMediaType(text);
    if (type) types.push(type);
    else
      findings.problem(
        encoding,
        'contentType',
        `${text.trim()} is not a media type`,
      );
  }
  return types;
}

function kindOf({ binary, types }: Shape): Kind {
  if (binary) return 'file';
  if (types === null) return 'any';
  if (!types.has('object') && !types.has('array')) return 'text';
  return types.isDisjointFrom(PRIMITIVES) ? 'complex' : 'either';
}

/**
 * Most readers treat a part with a filename as a file. Browsers send a filename with JSON too, so a
 * part of a JSON type that the contract names is JSON.
 */
export function formOf(
  { form, file, accepted }: Field,
  type: MediaType | null,
  filename: string | null,
): Form {
  if (file === null) return form;
  const names =
    accepted?.some(
      (range) => isJson(range) && type !== null && covers(range, type),
    ) === true;
  if (filename !== null) return names && form.kind !== 'text' ? form : file;
  return type !== null && BYTES.has(syntaxOf(type)) ? file : form;
}

const BYTES: ReadonlySet<Syntax> = new Set(['bytes', 'form', 'multipart']);

/** Forms inside forms are only bytes. */
export function syntaxIn(
  { kind, encoded }: Form,
  type: MediaType,
  hasFilename: boolean,
): Content {
  if (kind === 'file' || (kind === 'any' && hasFilename)) return 'bytes';
  if (encoded) return type.type === 'text' ? 'text' : 'bytes';
  const syntax = syntaxOf(type);
  return syntax === 'form' || syntax === 'multipart' ? 'bytes' : syntax;
}

export function opaqueType(field: Field): string | null {
  if (field.file !== null) return null;
  const opaque = field.accepted?.find(
    (type) =>
      type.subtype !== '*' &&
      field.form.reader(syntaxIn(field.form, type, false)) === null,
  );
  return opaque ? `${opaque.type}/${opaque.subtype}` : null;
}
