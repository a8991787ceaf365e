import { isObject, type JsonObject, objectsOf } from './ndjson.ts';
import { bad, type Fields, type Read, type Source } from './rows.ts';

/**
 * Rows of the table `keys` (see docs/import-keys.md), or entries of `apis.listKeys` with `decrypt`. The hash is the
 * SHA-256 of the key in base64.
 */
export async function* unkeyRows(source: Source): AsyncGenerator<Read> {
  for await (const one of objectsOf(source)) yield 'value' in one ? rowOf(one.at, one.value) : one;
}

function rowOf(at: string, entry: JsonObject): Read {
  const { hash, plaintext, name, identity, expires, enabled, deleted_at_m, pending_migration_id } = entry;
  if (hash === undefined && plaintext === undefined)
    return bad(at, 'key', 'has no hash or plaintext; the API returns it for recoverable keys only');
  if (deleted_at_m) return bad(at, null, 'was deleted');
  if (pending_migration_id)
    return bad(at, 'hash', 'was migrated to Unkey and not used since: its hash is of the former system');
  const owner = entry.external_id ?? (isObject(identity) ? identity.externalId : undefined);
  const time = typeof expires === 'number' && Number.isInteger(expires) ? new Date(expires) : null;
  return {
    at,
    fields: {
      hash,
      key: plaintext,
      account: owner,
      label: name,
      expires: time && !Number.isNaN(time.getTime()) ? time.toISOString() : expires,
      // The database has 0 and 1.
      disabled: enabled === undefined ? undefined : !enabled,
      metadata: metadataIn(entry.meta),
    } satisfies Fields,
  };
}

function metadataIn(meta: unknown): unknown {
  const read = typeof meta === 'string' ? parsed(meta) : meta;
  if (!isObject(read)) return read;
  return Object.fromEntries(Object.entries(read).map(([name, value]) => [name, jsonOf(value)]));
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

function parsed(meta: string): unknown {
  if (meta === '') return undefined;
  try {
    return JSON.parse(meta);
  } catch {
    return meta;
  }
}
