import { isObject, type JsonObject, objectsOf } from './ndjson.ts';
import { bad, type Fields, type Read, type Source } from './rows.ts';

/** What Tyk makes of a key, by the hexadecimal digits of its hash. */
const MURMUR: Readonly<Record<number, string>> = { 8: 'murmur32', 16: 'murmur64', 32: 'murmur128' };

/**
 * Keys of Tyk: a JSON object on each line, with `hash` (or `key` where Tyk hashes none) as `GET /tyk/keys` lists it, and
 * `session` as `GET /tyk/keys/{key}` answers. docs/import-keys.md has the command that writes it.
 */
export async function* tykRows(source: Source): AsyncGenerator<Read> {
  for await (const one of objectsOf(source)) yield 'value' in one ? rowOf(one.at, one.value) : one;
}

function rowOf(at: string, { hash, key, session }: JsonObject): Read {
  if (!isObject(session)) return bad(at, null, 'has no session: see docs/import-keys.md for the form of a line');
  const other = otherCredential(session);
  if (other) return bad(at, null, `is no key, but ${other}`);
  if (typeof hash === 'string' && MURMUR[hash.length] && /^[0-9a-f]+$/i.test(hash))
    return bad(at, 'hash', `is ${MURMUR[hash.length]}, from which no SHA-256 can be made`);
  if (typeof key === 'string' && isCustom(key))
    return bad(at, 'key', 'is a custom key: callers send another text than the one that Tyk lists');
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

/** What a session stands for that is no auth token. */
function otherCredential(session: JsonObject): string | null {
  const filled = (value: unknown, field: string) => isObject(value) && Boolean(value[field]);
  if (filled(session.basic_auth_data, 'password')) return 'a user with a password';
  if (filled(session.jwt_data, 'secret')) return 'a secret for JWT';
  if (session.hmac_enabled === true) return 'a secret for HMAC';
  return session.oauth_client_id ? 'a token of OAuth' : null;
}

/** A token of Tyk's newer form whose id somebody has chosen: callers may send that id alone. */
function isCustom(key: string): boolean {
  if (!key.startsWith('ey')) return false;
  try {
    const { id } = JSON.parse(Buffer.from(key, 'base64').toString()) as { id?: unknown };
    return typeof id !== 'string' || !/^[0-9a-f]{32}$/.test(id);
  } catch {
    // An older form that begins alike by accident.
    return false;
  }
}
