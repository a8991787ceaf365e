import { bad, FIELDS, type Fields, type Read, type Source } from './rows.ts';
import { linesOf } from './text.ts';

/** Characters of the longest line. All that a key can have fits into it several times. */
const LONGEST = 262_144;

/** A value of a line of JSON that is an object. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** The objects of a file with one on each line. */
export async function* objectsOf(source: Source): AsyncGenerator<{ at: string; value: JsonObject } | Read> {
  for await (const { number, text } of linesOf(source, LONGEST)) {
    const at = `line ${number}`;
    if (text === null) yield bad(at, null, `is longer than ${LONGEST} characters`);
    else {
      const value = parsed(text);
      yield value ? { at, value } : bad(at, null, 'is no JSON object');
    }
  }
}

/** Keys of a file with one JSON object on each line. */
export async function* ndjsonRows(source: Source): AsyncGenerator<Read> {
  for await (const one of objectsOf(source)) {
    if (!('value' in one)) yield one;
    else if (Object.keys(one.value).every(isField)) yield { at: one.at, fields: one.value as Fields };
    else yield bad(one.at, null, `has a field that is none of ${FIELDS.join(', ')}`);
  }
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `null`: it is none. The error of the parser quotes the text, which holds secrets, so nobody gets to see it. */
function parsed(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

function isField(name: string): boolean {
  return (FIELDS as readonly string[]).includes(name);
}
