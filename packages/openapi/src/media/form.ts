import { Bag } from '../bag.ts';
import type { Document } from '../document/document.ts';
import { isObject, type Json } from '../document/source.ts';
import { faultBelow, MAX_FAULTS, refuse, type ValueFault } from '../faults.ts';
import { Marks, put, type Reading } from '../marks.ts';
import { escapeToken, printable } from '../names.ts';
import { hint } from '../nearest.ts';
import type { ReadingOptions as DocumentReading } from '../options.ts';
import {
  type Collected,
  createCollector,
  NAME_ENCODING,
  type Sent,
} from '../parameters/collector.ts';
import {
  readDocument,
  readInSteps,
  readMembers,
} from '../parameters/reading.ts';
import { ANYTHING, formOf, listsIn, type Shape } from '../parameters/shape.ts';
import {
  example,
  isExploded,
  type Pieces,
  STYLES,
  type Style,
} from '../parameters/styles.ts';
import type { Direction } from '../schema/directions.ts';
import type { Check } from '../schema/schemas.ts';
import type { Steps } from '../slices.ts';
import { textOf } from '../utf8.ts';
import type { CheckBody } from './reading.ts';

interface Field extends Collected {
  /** In steps. @throws Unreadable */
  read(pieces: Pieces): Steps<Reading>;
}

/**
 * OpenAPI 3.0.3, "Support for x-www-form-urlencoded Request Bodies". Returns the reason if bodies
 * cannot be checked.
 */
export function createFormCheck(
  document: Document,
  media: Json,
  shape: Shape,
  check: Check,
  direction: Direction,
): CheckBody | string {
  if (shape.types !== null && !shape.types.has('object'))
    return 'the schema describes no object';
  const fields = [...shape.members].map(([name, member]) =>
    fieldOf(
      name,
      member,
      document.object(media.encoding)?.[name],
      document.reading,
    ),
  );
  const lists = listsIn(document, shape, direction);
  const others = rest(shape);
  const names = fields.map(({ name }) => name);
  const collect = createCollector([...fields, others]);

  return function* checkForm(bytes, _contentType, keep) {
    const unknown = new Set<string | undefined>();
    const sent = yield* collect(textOf(bytes), 'form', (name) => {
      if (unknown.size < MAX_FAULTS) unknown.add(name);
    });
    const faults = [...unknown].map((name) => unknownFault(name, names));
    const value = new Bag();
    const marks = new Marks();
    for (const [i, field] of fields.entries()) {
      const pieces = sent[i]!;
      if (pieces === null || pieces === 'unused') continue;
      try {
        put(value, field.name, yield* readField(field, pieces), marks);
      } catch (thrown) {
        faults.push(faultBelow(`/${escapeToken(field.name)}`, thrown));
      }
    }
    const pieces = sent[fields.length];
    if (pieces && typeof pieces !== 'string' && pieces.form === 'object') {
      try {
        yield* readMembers(pieces.pairs, others.shape, 'form', value);
      } catch (thrown) {
        faults.push(faultBelow('', thrown));
      }
    }
    for (const name of lists) if (!Object.hasOwn(value, name)) value[name] = [];
    keep?.(value);
    return faults.length > 0 ? faults : yield* check.steps(value, { marks });
  };
}

/** Of a name that cannot be decoded, or that servers misread. */
const unknownFault = (
  name: string | undefined,
  names: readonly string[],
): ValueFault =>
  name === undefined
    ? { pointer: '', message: NAME_ENCODING, rule: 'encoding' }
    : {
        pointer: `/${escapeToken(printable(name))}`,
        message: `is not defined in the contract${hint(name, names)}`,
        rule: 'additionalProperties',
      };

const rest = ({ others }: Shape): Collected => ({
  name: '',
  style: 'form',
  explode: true,
  form: 'object',
  allowEmpty: false,
  shape: { types: null, members: new Map(), others: others ?? ANYTHING },
});

function fieldOf(
  name: string,
  shape: Shape,
  encoding: unknown,
  { maxDepth, encodedCommas }: DocumentReading,
): Field {
  const { style, explode } = isObject(encoding) ? encoding : {};
  const styled = style !== undefined || explode !== undefined;
  const form = formOf(shape);
  const document = form === 'object' && !styled;
  const supported: Style =
    STYLES.query.find((other) => other === style) ?? 'form';
  return {
    name,
    style: supported,
    explode: !document && isExploded(supported, explode),
    form: document ? 'primitive' : form,
    allowEmpty: false,
    shape,
    encodedCommas: encodedCommas === 'separators',
    *read(pieces) {
      return document
        ? readDocument(pieces, 'form', maxDepth)
        : { value: yield* readInSteps(pieces, shape, 'form') };
    },
  };
}

function* readField(field: Field, sent: Sent): Steps<Reading> {
  if (sent === 'repeated') refuse('is given more than once', sent);
  if (typeof sent === 'string') {
    const usual = example(field);
    refuse(`must be written like ${usual}`, 'style', '', usual);
  }
  return yield* field.read(sent);
}
