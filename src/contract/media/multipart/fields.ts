import type { Document } from '../../document/document.ts';
import type { Json } from '../../document/source.ts';
import type { Findings } from '../../findings.ts';
import { type CheckHeaders, createHeaderCheck } from '../../parameters/headers.ts';
import type { Parameters } from '../../parameters/parameter.ts';
import { ANYTHING, itemsOf, partsOf, type Shape, shapeOf } from '../../parameters/shape.ts';
import { createReader, type ReadBytes, type Syntax, syntaxOf } from '../reading.ts';
import { type MediaType, parseMediaType } from '../type.ts';

type Content = Exclude<Syntax, 'form' | 'multipart'>;

/** What a part may be: bytes, text, JSON or another syntax of objects, or whatever is sent. */
type Kind = 'file' | 'text' | 'complex' | 'any';

/** A property of a form: what its parts may be. */
export interface Field {
  /** Whether each entry of a list is a part. */
  readonly list: boolean;
  /** Of one part. */
  readonly shape: Shape;
  readonly kind: Kind;
  /** Whether its text is bytes in another form, such as Base64. */
  readonly encoded: boolean;
  /** The media types that its parts may have; `null` if the contract names none. */
  readonly accepted: readonly MediaType[] | null;
  /** The same, as the contract writes them. */
  readonly written: string;
  readonly checkHeaders: CheckHeaders | null;
  /** The reader of a part in a syntax; `null` if the field cannot have it. */
  reader(syntax: Content): ReadBytes | null;
}

/** What the fields of a form are made from. */
export interface Sources {
  readonly document: Document;
  readonly parameters: Parameters;
  readonly findings: Findings;
}

/** The field for a property, or for the names that the schema does not list. `encoding`: its Encoding Object. */
export function createField(sources: Sources, schema: Json | null, encoding: Json | null): Field {
  const { document } = sources;
  const whole = schema ? shapeOf(document, schema) : ANYTHING;
  const list = whole.types?.has('array') === true;
  const item = list ? itemsOf(document, schema!) : schema;
  const readers = new Map<Content, ReadBytes | string>();
  const accepted = encoding ? readTypes(sources.findings, encoding) : null;
  const shape = item ? shapeOf(document, item) : ANYTHING;
  return {
    list,
    shape,
    kind: kindOf(shape),
    encoded: item !== null && partsOf(document, item).some(document.dialect.isEncoded),
    accepted,
    written: accepted ? String(encoding?.contentType) : '',
    checkHeaders: encoding ? readHeaders(sources, encoding) : null,
    reader(syntax) {
      const reader = readers.get(syntax) ?? createReader(document, item, syntax);
      readers.set(syntax, reader);
      return typeof reader === 'string' ? null : reader;
    },
  };
}

/** `contentType` is one media type or a list, ranges among them. */
function readTypes(findings: Findings, encoding: Json): readonly MediaType[] | null {
  if (typeof encoding.contentType !== 'string') return null;
  const types: MediaType[] = [];
  for (const text of encoding.contentType.split(',')) {
    const type = parseMediaType(text);
    if (type) types.push(type);
    else findings.problem(encoding, 'contentType', `${text.trim()} is not a media type`);
  }
  return types;
}

/** A Content-Type is described by `contentType` alone (OpenAPI 3.0.3, Encoding Object, `headers`). */
function readHeaders({ document, parameters }: Sources, encoding: Json): CheckHeaders | null {
  const described = document.members(encoding.headers).filter(([name]) => name.toLowerCase() !== 'content-type');
  const read = described.map(([name, value]) => {
    const node = document.object(value);
    return node && parameters.readHeader(node, name);
  });
  return createHeaderCheck(read.filter((header) => header !== null));
}

function kindOf({ binary, types }: Shape): Kind {
  if (binary) return 'file';
  if (types === null) return 'any';
  return types.has('object') || types.has('array') ? 'complex' : 'text';
}

/** The syntax of a part of this media type. Forms in forms are only bytes. */
export function syntaxIn({ kind }: Field, type: MediaType, hasFilename: boolean): Content {
  if (kind === 'file' || (kind === 'any' && hasFilename)) return 'bytes';
  const syntax = syntaxOf(type);
  return syntax === 'form' || syntax === 'multipart' ? 'bytes' : syntax;
}

/** A media type that the contract names for the field and in which its parts cannot be checked; `null` if there is none. */
export function opaqueType(field: Field): string | null {
  const opaque = field.accepted?.find(
    (type) => type.subtype !== '*' && field.reader(syntaxIn(field, type, false)) === null,
  );
  return opaque ? `${opaque.type}/${opaque.subtype}` : null;
}
