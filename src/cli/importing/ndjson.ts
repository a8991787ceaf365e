import { isObject } from '../../config/schema/schema.ts';
import {
  bad,
  FIELDS,
  type Fields,
  jsonIn,
  linesOf,
  type Read,
  type Source,
} from './rows.ts';

/** Characters, several times those of the largest key. */
const MAX_LINE = 262_144;

export type JsonObject = Readonly<Record<string, unknown>>;

export async function* rowsOf(
  source: Source,
  rowOf: (at: string, value: JsonObject) => Read,
): AsyncGenerator<Read> {
  for await (const { number, text } of linesOf(source, MAX_LINE)) {
    const at = `line ${number}`;
    if (text === null)
      yield bad(at, null, `is longer than ${MAX_LINE} characters`);
    else {
      const value = jsonIn(text);
      yield isObject(value)
        ? rowOf(at, value)
        : bad(at, null, 'is not a JSON object');
    }
  }
}

export const ndjsonRows = (source: Source) =>
  rowsOf(source, (at, fields: Fields) => {
    const isKnown = Object.keys(fields).every((name) =>
      (FIELDS as readonly string[]).includes(name),
    );
    return isKnown
      ? { at, fields }
      : bad(at, null, `has an unknown field; use ${FIELDS.join(', ')}`);
  });
