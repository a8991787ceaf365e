import { isObject, type JsonObject } from './ndjson.ts';
import { bad, type Read, type Source, unreadable } from './rows.ts';
import { wholeText } from './text.ts';

/** Kong key-auth: output of `deck gateway dump` (JSON or YAML), or a page of `GET /key-auths`. */
export async function* kongRows(source: Source): AsyncGenerator<Read> {
  const file = await documentIn(source);
  const { consumers, data } = isObject(file) ? file : {};
  if (Array.isArray(consumers)) yield* consumerRows(consumers);
  else if (Array.isArray(data)) for (const [i, one] of data.entries()) yield pageRow(`entry ${i + 1}`, one);
  else yield unreadable('the file', 'is not a dump of deck or a page of GET /key-auths');
}

/** JSON is faster. Errors of both parsers quote the text, and so are dropped. */
async function documentIn(source: Source): Promise<unknown> {
  const text = await wholeText(source);
  try {
    return JSON.parse(text);
  } catch {
    const { parse } = await import('yaml');
    try {
      return parse(text, { logLevel: 'error' });
    } catch {
      return null;
    }
  }
}

function* consumerRows(consumers: readonly unknown[]): Generator<Read> {
  for (const [i, consumer] of consumers.entries()) {
    const at = `consumer ${i + 1}`;
    const { keyauth_credentials: keys = [], username, custom_id } = isObject(consumer) ? consumer : {};
    if (!isObject(consumer) || !Array.isArray(keys)) yield bad(at, null, 'is not a consumer');
    else for (const [j, key] of keys.entries()) yield credential(`${at}, key ${j + 1}`, key, username ?? custom_id);
  }
}

function pageRow(at: string, entry: unknown): Read {
  const consumer = isObject(entry) && isObject(entry.consumer) ? entry.consumer.id : undefined;
  return credential(at, entry, consumer);
}

function credential(at: string, entry: unknown, account: unknown): Read {
  const { key, ttl }: JsonObject = isObject(entry) ? entry : {};
  if (typeof key !== 'string') return bad(at, 'key', 'has no key');
  if (key.startsWith('{vault://')) return bad(at, 'key', 'is a reference to a vault, not the key');
  if (ttl !== undefined && ttl !== null)
    return bad(at, 'expires', 'has a ttl without a creation time, so its expiry is unknown');
  return { at, fields: { key, account } };
}
