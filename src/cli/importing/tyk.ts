import { isObject, type JsonObject, objectsOf } from './ndjson.ts';
import { bad, type Fields, type Read, type Source } from './rows.ts';

/** By hexadecimal digits. */
const MURMUR: Readonly<Record<number, string>> = { 8: 'murmur32', 16: 'murmur64', 32: 'murmur128' };

/**
 * `hash` (or `key` without hashing) of `GET /tyk/keys`, and `session` of `GET /tyk/keys/{key}`, see
 * docs/import-keys.md.
 */
export async function* tykRows(source: Source): AsyncGenerator<Read> {
  for await (const one of objectsOf(source)) yield 'value' in one ? rowOf(one.at, one.value) : one;
}

function rowOf(at: string, { hash, key, session }: JsonObject): Read {
  if (!isObject(session)) return bad(at, null, 'has no session; docs/import-keys.md describes the format');
  const other = otherCredential(session);
  if (other) return bad(at, null, `is ${other}, not a key`);
  if (typeof hash === 'string' && MURMUR[hash.length] && /^[0-9a-f]+$/i.test(hash))
    return bad(at, 'hash', `is ${MURMUR[hash.length]}; only SHA-256 can be imported`);
  if (typeof key === 'string' && isCustom(key))
    return bad(at, 'key', 'is a custom key: clients send a different text than Tyk lists');
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
      expires: typeof expires === 'number' && expires <= 0 ? undefined : expires,
    } satisfies Fields,
  };
}

/** Of a session that is not an auth token. */
function otherCredential(session: JsonObject): string | null {
  const filled = (value: unknown, field: string) => isObject(value) && Boolean(value[field]);
  if (filled(session.basic_auth_data, 'password')) return 'a user with a password';
  if (filled(session.jwt_data, 'secret')) return 'a secret for JWT';
  if (session.hmac_enabled === true) return 'a secret for HMAC';
  return session.oauth_client_id ? 'a token of OAuth' : null;
}

/** A key with an id chosen by a person: clients may send only the id. */
function isCustom(key: string): boolean {
  if (!key.startsWith('ey')) return false;
  try {
    const { id } = JSON.parse(Buffer.from(key, 'base64').toString()) as { id?: unknown };
    return typeof id !== 'string' || !/^[0-9a-f]{32}$/.test(id);
  } catch {
    // An older form with the same first letters.
    return false;
  }
}
