import {
  type DurationField,
  LAST_TIME,
  readDuration,
} from '../config/durations.ts';
import { AdminError, faultOf } from './admin-error.ts';

/** Milliseconds of a field of a body. Throws AdminError with the field and its range. */
export function durationIn(field: DurationField, text: string): number {
  const length = readDuration(field, text);
  if (typeof length === 'number') return length;
  throw unfitField(field, length);
}

/** Unix milliseconds of an RFC 3339 time in a field of a body. Throws AdminError with the field. */
export function timeIn(field: string, text: string): number {
  const at = Date.parse(text);
  if (at <= LAST_TIME) return at;
  throw unfitField(
    field,
    `must be at most ${new Date(LAST_TIME).toISOString()}`,
  );
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
