import { Bag } from '../bag.ts';
import type { Document } from '../document/document.ts';
import { isObject, type Json } from '../document/source.ts';
import type { CheckBytes, ValueFault } from '../faults.ts';
import { faultOfJson, readJsonText } from '../json.ts';
import { escapeToken } from '../names.ts';
import type { ReadingOptions as DocumentReading } from '../options.ts';
import { type Collected, Collector, type Sent } from '../parameters/collector.ts';
import { type Reading, read } from '../parameters/reading.ts';
import { ANYTHING, type Shape, shapeOf } from '../parameters/shape.ts';
import { STYLES, type Style } from '../parameters/styles.ts';
import type { Check } from '../schema/schemas.ts';
import { decodeUtf8 } from '../utf8.ts';

interface Field extends Collected {
  readonly document: boolean;
  readonly maxDepth: number | undefined;
}

/**
 * OpenAPI 3.0.3, "Support for x-www-form-urlencoded Request Bodies". Returns `null` if the schema does not describe an
 * object.
 */
export function createFormCheck(document: Document, media: Json, check: Check): CheckBytes | null {
  const shape = shapeOf(document, document.object(media.schema) ?? {});
  if (shape.types !== null && !shape.types.has('object')) return null;
  const fields = [...shape.members].map(([name, member]) =>
    fieldOf(name, member, document.object(media.encoding)?.[name], document.reading),
  );
  const collector = new Collector([...fields, rest(shape)]);

  return function checkForm(bytes) {
    const text = decodeUtf8(bytes);
    if (text === null) return [{ pointer: '', message: 'is not UTF-8', rule: 'encoding' }];
    const undecodable: ValueFault[] = [];
    const sent = collector.collect(text, true, () => {
      undecodable[0] = {
        pointer: '',
        message: 'has a name that is not UTF-8 in valid percent-encoding',
        rule: 'encoding',
      };
    });
    const value = new Bag();
    const faults = [...undecodable, ...fields.flatMap((field, i) => fill(value, field, sent[i]!))];
    const others = sent[fields.length];
    if (others && others !== 'unused' && 'pieces' in others) {
      const reading = read(others.pieces, rest(shape).shape, 'form');
      if (reading.fault) faults.push(reading.fault);
      else Object.assign(value, reading.value);
    }
    return faults.length > 0 ? faults : check(value);
  };
}

const rest = ({ others }: Shape): Collected => ({
  name: '',
  style: 'form',
  explode: true,
  form: 'object',
  allowEmpty: false,
  shape: { ...ANYTHING, others: others ?? ANYTHING },
});

function fieldOf(name: string, shape: Shape, encoding: unknown, { maxDepth, encodedCommas }: DocumentReading): Field {
  const { style, explode } = isObject(encoding) ? encoding : {};
  const styled = style !== undefined || explode !== undefined;
  const form = shape.types?.has('object') ? 'object' : shape.types?.has('array') ? 'array' : 'primitive';
  const document = form === 'object' && !styled;
  const known: Style = STYLES.query.find((other) => other === style) ?? 'form';
  return {
    name,
    style: known,
    explode: !document && (known === 'deepObject' || (typeof explode === 'boolean' ? explode : known === 'form')),
    form: document ? 'primitive' : form,
    allowEmpty: false,
    shape,
    encodedCommas: encodedCommas === 'separators',
    document,
    maxDepth,
  };
}

function fill(value: Record<string, unknown>, field: Field, sent: Sent | null): ValueFault[] {
  if (sent === null || sent === 'unused') return [];
  const pointer = `/${escapeToken(field.name)}`;
  if ('complaint' in sent) {
    const message = sent.complaint === 'repeated' ? 'is given more than once' : 'is not written in its style';
    return [{ pointer, message, rule: sent.complaint }];
  }
  const { value: member, fault } = readField(field, sent.pieces);
  if (fault) return [{ ...fault, pointer: pointer + fault.pointer }];
  value[field.name] = member;
  return [];
}

function readField({ shape, document, maxDepth }: Field, pieces: Parameters<typeof read>[0]): Reading {
  if (!document) return read(pieces, shape, 'form');
  const text = read(pieces, { ...shape, types: null }, 'form');
  if (text.fault) return text;
  const { value, fault } = readJsonText(text.value as string, maxDepth);
  return fault ? { fault: faultOfJson(fault) } : { value, fault: null };
}
