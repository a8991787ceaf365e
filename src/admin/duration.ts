import { type DurationField, readDuration } from '../config/durations.ts';
import { readMoment } from '../config/moments.ts';
import { AdminError, faultOf } from './admin-error.ts';

/** Milliseconds of a field of a body. Throws AdminError with the field and its range. */
export function durationIn(field: DurationField, text: string): number {
  const length = readDuration(field, text);
  if (typeof length === 'number') return length;
  throw unfitField(field, length);
}

/** Unix milliseconds of a time in a field of a body. Throws AdminError with the field. */
export function timeIn(field: string, text: string): number {
  const at = readMoment(text);
  if (typeof at === 'number') return at;
  throw unfitField(field, at);
}

/** As `timeIn`, in a query; `undefined` if it is absent. `dates`: whether a date is a time. */
export function momentIn(
  name: string,
  text: string | undefined,
  { dates = false }: { readonly dates?: boolean } = {},
): number | undefined {
  if (text === undefined) return undefined;
  const at = readMoment(text, { dates });
  if (typeof at === 'number') return at;
  throw unfitField(name, at, 'query');
}

/** `message`: the end of a sentence. */
export function unfitField(
  field: string,
  message: string,
  place?: 'header' | 'query' | 'body',
): AdminError {
  const details = faultOf(field, message, place);
  return new AdminError('invalid_value', `${field} ${message}.`, { details });
}
