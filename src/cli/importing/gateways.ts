import { isObject } from '../../config/schema/schema.ts';
import { type JsonObject, rowsOf } from './ndjson.ts';
import {
  bad,
  type Fields,
  jsonIn,
  type Read,
  type Source,
  unreadable,
  wholeText,
} from './rows.ts';

/** Kong key-auth: output of `deck gateway dump` (JSON or YAML), or a page of `GET /key-auths`. */
export async function* kongRows(source: Source): AsyncGenerator<Read> {
  const file = await kongDocumentIn(await wholeText(source));
  const { consumers, data } = isObject(file) ? file : {};
  if (Array.isArray(consumers)) yield* consumerRows(consumers);
  else if (Array.isArray(data))
    for (const [i, one] of data.entries()) {
      const consumer =
        isObject(one) && isObject(one.consumer) ? one.consumer.id : undefined;
      yield credential(`entry ${i + 1}`, one, consumer);
    }
  else
    yield unreadable(
      'the file',
      'is not a dump of deck or a page of GET /key-auths',
    );
}

/** JSON is faster. The error of the parser quotes the text, and so is dropped. */
async function kongDocumentIn(text: string): Promise<unknown> {
  const json = jsonIn(text);
  if (json !== undefined) return json;
  const { parse } = await import('yaml');
  try {
    return parse(text, { logLevel: 'error' });
  } catch {
    return null;
  }
}

function* consumerRows(consumers: readonly unknown[]): Generator<Read> {
  for (const [i, consumer] of consumers.entries()) {
    const at = `consumer ${i + 1}`;
    const {
      keyauth_credentials: keys = [],
      username,
      custom_id,
    } = isObject(consumer) ? consumer : {};
    if (!isObject(consumer) || !Array.isArray(keys))
      yield bad(at, null, 'is not a consumer');
    else
      for (const [j, key] of keys.entries())
        yield credential(`${at}, key ${j + 1}`, key, username ?? custom_id);
  }
}

function credential(at: string, entry: unknown, account: unknown): Read {
  const { key, ttl }: JsonObject = isObject(entry) ? entry : {};
  if (typeof key !== 'string') return bad(at, 'key', 'has no key');
  if (key.startsWith('{vault://'))
    return bad(at, 'key', 'is a reference to a vault, not the key');
  if (ttl !== undefined && ttl !== null)
    return bad(
      at,
      'expires',
      'has a ttl without a creation time, so its expiry is unknown',
    );
  return { at, fields: { key, account } };
}

/** By hexadecimal digits. */
const MURMUR: Readonly<Record<number, string>> = {
  8: 'murmur32',
  16: 'murmur64',
  32: 'murmur128',
};

/**
 * `hash` (or `key` without hashing) of `GET /tyk/keys`, and `session` of `GET /tyk/keys/{key}`, see
 * docs/import-keys.md.
 */
export const tykRows = (source: Source) => rowsOf(source, tykRow);

function tykRow(at: string, { hash, key, session }: JsonObject): Read {
  if (!isObject(session))
    return bad(
      at,
      null,
      'has no session; docs/import-keys.md describes the format',
    );
  const other = otherCredential(session);
  if (other) return bad(at, null, `is ${other}, not a key`);
  if (
    typeof hash === 'string' &&
    MURMUR[hash.length] &&
    /^[0-9a-f]+$/i.test(hash)
  )
    return bad(
      at,
      'hash',
      `is ${MURMUR[hash.length]}; only SHA-256 can be imported`,
    );
  if (typeof key === 'string' && isCustom(key))
    return bad(
      at,
      'key',
      'is a custom key: clients send a different text than Tyk lists',
    );
  const { org_id, alias, is_inactive, expires } = session;
  return {
    at,
    fields: {
      hash,
      key,
      account: org_id || undefined,
      label: alias || undefined,
      disabled: is_inactive,
      // Tyk writes 0 or -1 for never.
      expires:
        typeof expires === 'number' && expires <= 0 ? undefined : expires,
    } satisfies Fields,
  };
}

/** Of a session that is not an auth token. */
function otherCredential(session: JsonObject): string | null {
  const filled = (value: unknown, field: string) =>
    isObject(value) && Boolean(value[field]);
  if (filled(session.basic_auth_data, 'password'))
    return 'a user with a password';
  if (filled(session.jwt_data, 'secret')) return 'a secret for JWT';
  if (session.hmac_enabled === true) return 'a secret for HMAC';
  return session.oauth_client_id ? 'a token of OAuth' : null;
}

/** A key with an id chosen by a person: clients may send only the id. */
function isCustom(key: string): boolean {
  if (!key.startsWith('ey')) return false;
  try {
    const { id } = JSON.parse(Buffer.from(key, 'base64').toString()) as {
      id?: unknown;
    };
    return typeof id !== 'string' || !/^[0-9a-f]{32}$/.test(id);
  } catch {
    // An older form with the same first letters.
    return false;
  }
}

/** APISIX key-auth: responses of its admin API (v3), one document or one per line. */
export async function* apisixRows(source: Source): AsyncGenerator<Read> {
  const documents = documentsIn(await wholeText(source));
  const entries = documents?.flatMap((one) =>
    isObject(one) && Array.isArray(one.list) ? one.list : [one],
  );
  if (!entries) yield unreadable('the file', 'is not JSON or lines of JSON');
  else
    for (const [i, entry] of entries.entries())
      yield* apisixRowsOf(`entry ${i + 1}`, entry);
}

function documentsIn(text: string): readonly unknown[] | null {
  const whole = jsonIn(text);
  if (whole !== undefined) return [whole];
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const documents = lines.map(jsonIn);
  return documents.includes(undefined) ? null : documents;
}

function* apisixRowsOf(at: string, entry: unknown): Generator<Read> {
  const { key: path, value }: JsonObject = isObject(entry) ? entry : {};
  if (typeof path !== 'string' || !isObject(value))
    return yield bad(at, null, 'is not a consumer or credential');
  const plugins = isObject(value.plugins) ? value.plugins : {};
  const plugin = plugins['key-auth'];
  if (plugin === undefined) return;
  const key = isObject(plugin) ? plugin.key : undefined;
  if (typeof key !== 'string') yield bad(at, 'key', 'has no key');
  else if (/^\$(secret|env):\/\//i.test(key))
    yield bad(at, 'key', 'is a reference to a secret, not the key');
  else {
    const account =
      value.username ?? /\/consumers\/([^/]+)\/credentials\//.exec(path)?.[1];
    yield { at, fields: { key, account, label: value.desc } satisfies Fields };
  }
}

/**
 * Rows of the table `keys` (see docs/import-keys.md), or entries of `apis.listKeys` with `decrypt`.
 * The hash is the SHA-256 of the key in base64.
 */
export const unkeyRows = (source: Source) => rowsOf(source, unkeyRow);

function unkeyRow(at: string, entry: JsonObject): Read {
  const {
    hash,
    plaintext,
    name,
    identity,
    expires,
    enabled,
    deleted_at_m,
    pending_migration_id,
  } = entry;
  if (hash === undefined && plaintext === undefined)
    return bad(
      at,
      'key',
      'has no hash or plaintext; the API returns it for recoverable keys only',
    );
  if (deleted_at_m) return bad(at, null, 'was deleted');
  if (pending_migration_id)
    return bad(
      at,
      'hash',
      'was migrated to Unkey and not used since: its hash is of the former system',
    );
  const owner =
    entry.external_id ?? (isObject(identity) ? identity.externalId : undefined);
  const time =
    typeof expires === 'number' && Number.isInteger(expires)
      ? new Date(expires)
      : null;
  return {
    at,
    fields: {
      hash,
      key: plaintext,
      account: owner,
      label: name,
      expires:
        time && !Number.isNaN(time.getTime()) ? time.toISOString() : expires,
      // The database has 0 and 1.
      disabled: enabled === undefined ? undefined : !enabled,
      metadata: unkeyMetadata(entry.meta),
    } satisfies Fields,
  };
}

function unkeyMetadata(meta: unknown): unknown {
  if (meta === '') return undefined;
  const json = typeof meta === 'string' ? jsonIn(meta) : undefined;
  const read = json === undefined ? meta : json;
  if (!isObject(read)) return read;
  return Object.fromEntries(
    Object.entries(read).map(([name, value]) => [name, jsonOf(value)]),
  );
}

function jsonOf(value: unknown): unknown {
  if (typeof value === 'string') return value;
  try {
    return JSON.stringify(value);
  } catch {
    // Nested too deeply: it is refused later, as it is not text.
    return value;
  }
}
