import type { Document } from '../document/document.ts';
import { isObject, type Json } from '../document/source.ts';
import { NONE, type ValueFault } from '../faults.ts';
import type { Findings } from '../findings.ts';
import { isJson, parseMediaType } from '../media/type.ts';
import type { Check, Schemas } from '../schema/schemas.ts';
import type { Collected } from './collector.ts';
import { type Encoding, read, readDocument } from './reading.ts';
import { ANYTHING, noteUnread, type Shape, shapeOf } from './shape.ts';
import { type Form, type Pieces, type Place, STYLES, type Style } from './styles.ts';

export interface Parameter extends Collected {
  readonly in: Place;
  readonly required: boolean;
  readonly document: boolean;
  /** Pointers are relative to the parameter. @throws Unreadable */
  check(pieces: Pieces): readonly ValueFault[];
}

type Known = Pick<Parameter, 'name' | 'in' | 'required' | 'allowEmpty'>;

/** OpenAPI 3.0.3, Parameter Object, `name`. */
const IGNORED_HEADERS = new Set(['accept', 'content-type', 'authorization']);

export class Parameters {
  readonly #document: Document;
  readonly #schemas: Schemas;
  readonly #findings: Findings;

  constructor(document: Document, schemas: Schemas, findings: Findings) {
    this.#document = document;
    this.#schemas = schemas;
    this.#findings = findings;
  }

  /** `null` if there is nothing to check, or if the object is invalid, which is reported. */
  read(node: Json, name: unknown = node.name, place: unknown = node.in): Parameter | null {
    if (typeof name !== 'string' || name === '') return this.#wrong(node, null, 'a parameter needs a name');
    if (!isPlace(place)) return this.#wrong(node, 'in', 'must be path, query, header or cookie');
    if (place === 'header' && IGNORED_HEADERS.has(name.toLowerCase())) {
      this.#findings.note(
        node,
        'name',
        `a header parameter ${name} is ignored, as ${this.#document.dialect.name} says`,
      );
      return null;
    }
    if (place === 'path' && node.required !== true)
      this.#wrong(node, null, 'a path parameter must have required: true');
    const required = node.required === true;
    const allowEmpty = place === 'query' && node.allowEmptyValue === true;
    const known = { name, in: place, required, allowEmpty };
    if (isObject(node.schema) === isObject(node.content)) {
      return this.#wrong(node, null, `parameter ${name} needs a schema or content, and not both`);
    }
    return isObject(node.schema) ? this.#styled(node, node.schema, known) : this.#whole(node, known);
  }

  #styled(node: Json, schema: Json, known: Known): Parameter | null {
    if (known.in === 'path' && node.style === 'matrix') return this.#wrong(node, 'style', MATRIX);
    const styles: readonly string[] = STYLES[known.in];
    const style = (node.style ?? styles[0]) as Style;
    if (!styles.includes(style)) return this.#wrong(node, 'style', `must be ${styles.join(', ')} in ${known.in}`);
    const shape = shapeOf(this.#document, schema);
    noteUnread(this.#document, schema, this.#findings);
    const form = this.#form(node, shape, style);
    if (style === 'deepObject' && form === 'primitive')
      return this.#wrong(node, 'style', 'deepObject is for objects and lists only');
    const explode = style === 'deepObject' || (typeof node.explode === 'boolean' ? node.explode : style === 'form');
    const encoding = encodingOf(known.in, node.allowReserved === true);
    const check = checkOf(this.#schemas.check(schema, 'request'), shape, encoding);
    const encodedCommas = known.in !== 'header' && this.#document.reading.encodedCommas === 'separators';
    return { ...known, style, explode, form, shape, encodedCommas, document: false, check };
  }

  /** A text has one form only: an object or list if the schema allows one. Brackets identify deep objects. */
  #form(node: Json, { types }: Shape, style: Style): Form {
    const form = types?.has('object') ? 'object' : types?.has('array') ? 'array' : 'primitive';
    const others =
      style === 'deepObject' ? types?.has('array') && form === 'object' : form !== 'primitive' && types!.size > 1;
    if (others) {
      this.#findings.note(
        node,
        'schema',
        `other types than ${form} have no form of their own as text: it is read as ${form}`,
      );
    }
    return form;
  }

  #whole(node: Json, known: Known): Parameter | null {
    const entries = this.#document.members(node.content);
    const [type, media] = entries[0] ?? [];
    if (entries.length !== 1 || type === undefined)
      return this.#wrong(node, 'content', 'must have exactly one media type');
    const schema = this.#document.object(media)?.schema;
    const parsed = parseMediaType(type);
    const json = parsed !== null && isJson(parsed);
    if (!json) this.#findings.note(node, 'content', `${type} in a parameter is not checked`);
    const { maxDepth } = this.#document.reading;
    const encoding = encodingOf(known.in, false);
    const checkValue: Check = json && isObject(schema) ? this.#schemas.check(schema, 'request') : () => NONE;
    const check = (pieces: Pieces) => {
      if (!json) return NONE;
      const reading = readDocument(pieces, encoding, maxDepth);
      return checkValue(reading.value, reading);
    };
    const style = STYLES[known.in][0];
    return { ...known, style, explode: false, form: 'primitive', shape: ANYTHING, document: true, check };
  }

  #wrong(node: Json, key: string | null, message: string): null {
    this.#findings.problem(node, key, message);
    return null;
  }
}

/** Paths with `;` are refused earlier, see README.md. */
const MATRIX =
  'matrix cannot be used: the gateway refuses a path with a semicolon, because servers read what follows one in different ways';

const isPlace = (value: unknown): value is Place => typeof value === 'string' && Object.hasOwn(STYLES, value);

/** Clients encode a space as `+` or `%20`. With `allowReserved`, `+` stands for itself. */
function encodingOf(place: Place, allowReserved: boolean): Encoding {
  if (place === 'header') return 'none';
  return place === 'query' && !allowReserved ? 'form' : 'percent';
}

function checkOf(check: Check, shape: Shape, encoding: Encoding): Parameter['check'] {
  const ambiguous = shape.types !== null && shape.types.size > 1 && shape.types.has('string');
  return function checkPieces(pieces) {
    const faults = check(read(pieces, shape, encoding));
    if (faults.length === 0 || !ambiguous || pieces.form !== 'primitive') return faults;
    return check(read(pieces, ANYTHING, encoding)).length > 0 ? faults : NONE;
  };
}
