import { isObject, type Json } from '../document/source.ts';
import { NONE, type ValueFault } from '../faults.ts';
import type { Findings } from '../findings.ts';
import { isJson, parseMediaType } from '../media/type.ts';
import { type Check, FREE, type Schemas } from '../schema/schemas.ts';
import type { Collected } from './collector.ts';
import { type Encoding, isTooDeep, read, readDocument } from './reading.ts';
import { ANYTHING, formOf, noteUnread, type Shape, shapeOf } from './shape.ts';
import {
  type Form,
  isExploded,
  type Pieces,
  type Place,
  STYLES,
  type Style,
} from './styles.ts';

export interface Parameter extends Collected {
  readonly shape: Shape;
  readonly in: Place;
  readonly required: boolean;
  /** Pointers are relative to the parameter. `keep` gets the value. @throws Unreadable */
  check(pieces: Pieces, keep?: Keep): readonly ValueFault[];
}

export type Keep = (value: unknown) => void;

type ParameterBase = Pick<Parameter, 'name' | 'in' | 'required' | 'allowEmpty'>;

/** OpenAPI 3.0.3, Parameter Object, `name`. */
const IGNORED_HEADERS = new Set(['accept', 'content-type', 'authorization']);

/** `null` if there is nothing to check, or if the object is invalid, which is reported. */
export function readParameter(
  schemas: Schemas,
  node: Json,
  name: unknown = node.name,
  place: unknown = node.in,
): Parameter | null {
  const { dialect, findings } = schemas.document;
  if (typeof name !== 'string' || name === '')
    return wrong(node, null, 'a parameter needs a name', findings);
  if (!isPlace(place))
    return wrong(node, 'in', 'must be path, query, header or cookie', findings);
  if (place === 'header' && IGNORED_HEADERS.has(name.toLowerCase())) {
    findings.note(
      node,
      'name',
      `a header parameter ${name} is ignored, as ${dialect.name} says`,
    );
    return null;
  }
  const required = node.required === true;
  if (place === 'path' && !required)
    findings.problem(node, null, 'a path parameter must have required: true');
  const allowEmpty = place === 'query' && node.allowEmptyValue === true;
  const base = { name, in: place, required, allowEmpty };
  if (isObject(node.schema) === isObject(node.content)) {
    return wrong(
      node,
      null,
      `parameter ${name} needs a schema or content, and not both`,
      findings,
    );
  }
  return isObject(node.schema)
    ? styled(schemas, node, node.schema, base)
    : whole(schemas, node, base);
}

function styled(
  schemas: Schemas,
  node: Json,
  schema: Json,
  base: ParameterBase,
): Parameter | null {
  const { document } = schemas;
  const { findings, reading } = document;
  if (base.in === 'path' && node.style === 'matrix')
    return wrong(node, 'style', MATRIX, findings);
  const styles: readonly string[] = STYLES[base.in];
  const written = (node.style ?? styles[0]) as Style;
  if (!styles.includes(written))
    return wrong(
      node,
      'style',
      `must be ${styles.join(', ')} in ${base.in}`,
      findings,
    );
  const shape = shapeOf(document, schema);
  noteUnread(document, shape);
  const form = formOf(shape);
  const plain = written === 'deepObject' && form === 'primitive';
  const style = plain ? 'form' : written;
  if (plain) findings.note(node, 'style', DEEP_OBJECT);
  if (hasOtherForms(shape, form, style)) {
    const message = `other types than ${form} have no form of their own as text: it is read as ${form}`;
    findings.note(node, 'schema', message);
  }
  if (style === 'deepObject' && isTooDeep(shape))
    findings.note(
      node,
      'schema',
      'has members below five levels of brackets, which no request can have',
    );
  const explode = isExploded(style, node.explode);
  const encoding = encodingOf(base.in, node.allowReserved === true);
  const check = checkOf(schemas.check(schema, 'request'), shape, encoding);
  const encodedCommas =
    base.in !== 'header' && reading.encodedCommas === 'separators';
  return { ...base, style, explode, form, shape, encodedCommas, check };
}

/** Brackets distinguish deep objects, lists and other values; a single value can be a list too. */
const hasOtherForms = ({ types }: Shape, form: Form, style: Style) =>
  form === 'object' && style !== 'deepObject' && types!.size > 1;

function whole(
  schemas: Schemas,
  node: Json,
  base: ParameterBase,
): Parameter | null {
  const { document } = schemas;
  const { findings, reading } = document;
  const entries = document.members(node.content);
  const [type, media] = entries[0] ?? [];
  if (entries.length !== 1 || type === undefined)
    return wrong(node, 'content', 'must have exactly one media type', findings);
  const schema = document.object(media)?.schema;
  const parsed = parseMediaType(type);
  const json = parsed !== null && isJson(parsed);
  if (!json)
    findings.note(node, 'content', `${type} in a parameter is not checked`);
  const encoding = encodingOf(base.in, false);
  const checkValue: Check =
    json && isObject(schema) ? schemas.check(schema, 'request') : FREE;
  const check = (pieces: Pieces, keep?: Keep) => {
    if (!json) return NONE;
    const document = readDocument(pieces, encoding, reading.maxDepth);
    keep?.(document.value);
    return checkValue(document.value, document);
  };
  return {
    ...base,
    style: STYLES[base.in][0],
    explode: false,
    form: 'primitive',
    shape: ANYTHING,
    check,
  };
}

function wrong(
  node: Json,
  key: string | null,
  message: string,
  findings: Findings,
): null {
  findings.problem(node, key, message);
  return null;
}

/** Paths with `;` are refused earlier, see README.md. */
const MATRIX =
  'matrix cannot be used: servers read a semicolon in a path in different ways';

/** Stripe writes numbers and texts beside deep objects as deep objects too. */
const DEEP_OBJECT =
  'deepObject is for objects and lists: the parameter is read as form';

const isPlace = (value: unknown): value is Place =>
  typeof value === 'string' && Object.hasOwn(STYLES, value);

/** Clients encode a space as `+` or `%20`. With `allowReserved`, `+` stands for itself. */
function encodingOf(place: Place, allowReserved: boolean): Encoding {
  if (place === 'header') return 'none';
  return place === 'query' && !allowReserved ? 'form' : 'percent';
}

function checkOf(
  check: Check,
  shape: Shape,
  encoding: Encoding,
): Parameter['check'] {
  return function checkPieces(pieces, keep) {
    const value = read(pieces, shape, encoding);
    keep?.(value);
    const faults = check(value);
    if (faults.length === 0) return faults;
    for (const [otherPieces, otherShape] of otherReadings(pieces, shape)) {
      const other = read(otherPieces, otherShape, encoding);
      if (check(other).length > 0) continue;
      keep?.(other);
      return NONE;
    }
    return faults;
  };
}

/** Of a text that the schema allows to mean several values: `7` a number, `x` a list of one. */
function* otherReadings(
  pieces: Pieces,
  shape: Shape,
): Generator<readonly [Pieces, Shape]> {
  const { types } = shape;
  if (types === null || types.size === 1) return;
  const isAlone = pieces.form === 'array' && pieces.texts.length === 1;
  const alone = isAlone
    ? ({ form: 'primitive', text: pieces.texts[0]! } as const)
    : pieces;
  if (alone.form !== 'primitive') return;
  if (isAlone) yield [alone, shape];
  if (types.has('string')) yield [alone, ANYTHING];
}
