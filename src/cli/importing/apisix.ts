import { isObject, type JsonObject } from './ndjson.ts';
import { bad, type Fields, type Read, type Source, unreadable } from './rows.ts';
import { wholeText } from './text.ts';

/** APISIX key-auth: responses of its admin API (v3), one document or one per line. */
export async function* apisixRows(source: Source): AsyncGenerator<Read> {
  const documents = documentsIn(await wholeText(source));
  const entries = documents?.flatMap((one) => (isObject(one) && Array.isArray(one.list) ? one.list : [one]));
  if (!entries) yield unreadable('the file', 'is not JSON or lines of JSON');
  else for (const [i, entry] of entries.entries()) yield* rowsOf(`entry ${i + 1}`, entry);
}

function documentsIn(text: string): readonly unknown[] | null {
  try {
    return [JSON.parse(text)];
  } catch {
    // It may have several documents.
  }
  try {
    const lines = text.split('\n').filter((line) => line.trim() !== '');
    return lines.map((line) => JSON.parse(line) as unknown);
  } catch {
    return null;
  }
}

function* rowsOf(at: string, entry: unknown): Generator<Read> {
  const { key: path, value }: JsonObject = isObject(entry) ? entry : {};
  if (typeof path !== 'string' || !isObject(value)) return yield bad(at, null, 'is not a consumer or credential');
  const plugins = isObject(value.plugins) ? value.plugins : {};
  const plugin = plugins['key-auth'];
  if (plugin === undefined) return;
  const key = isObject(plugin) ? plugin.key : undefined;
  if (typeof key !== 'string') yield bad(at, 'key', 'has no key');
  else if (/^\$(secret|env):\/\//i.test(key)) yield bad(at, 'key', 'is a reference to a secret, not the key');
  else {
    const account = value.username ?? /\/consumers\/([^/]+)\/credentials\//.exec(path)?.[1];
    yield { at, fields: { key, account, label: value.desc } satisfies Fields };
  }
}
