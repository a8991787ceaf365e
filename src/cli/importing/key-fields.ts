import type { ManyImportedKeys } from '@storegate/console';
import { isDateTime } from '@storegate/openapi/formats';
import { ConfigError } from '../../config/problems/problems.ts';
import { formatWindows, parseWindows } from '../../config/windows.ts';
import { formErrors } from '../../keys/draft.ts';
import { hashSecret, isPresentable, MAX_IMPORTED_LENGTH, readHash } from '../../keys/secret.ts';
import { isObject } from './ndjson.ts';
import type { Field, Fields } from './rows.ts';

export type KeyBody = ManyImportedKeys['keys'][number];

/** The message has no value of the key. */
export interface FieldError {
  readonly field: Field;
  readonly message: string;
}

export interface ReadKey {
  readonly body: KeyBody;
  readonly hadSecret: boolean;
}

export type Defaults = Readonly<Partial<Record<'plan' | 'account', string>>>;

/** Returns every mistake that can be found without plans and state. */
export function readKey(fields: Fields, defaults: Defaults): ReadKey | FieldError[] {
  const flaws: FieldError[] = [];
  function read<T>(field: Field, work: (value: unknown) => T | Flawed): T | undefined {
    const value = fields[field] ?? undefined;
    if (value === undefined) return undefined;
    const result = work(value);
    if (!(result instanceof Flawed)) return result;
    flaws.push({ field, message: result.message });
    return undefined;
  }

  const given = read('hash', hashIn);
  const secret = read('key', secretIn);
  const body = {
    hash: given ?? secret,
    plan: read('plan', (value) => textIn(value, 64)) ?? defaults.plan,
    account: read('account', (value) => textIn(value)) ?? defaults.account,
    label: read('label', (value) => textIn(value)),
    limits: read('limits', limitsIn),
    expires: read('expires', timeIn),
    addresses: read('addresses', textsIn),
    scopes: read('scopes', textsIn),
    metadata: read('metadata', metadataIn),
    disabled: read('disabled', (value) => (typeof value === 'boolean' ? value : new Flawed('is not true or false'))),
  };
  const missing = (field: 'hash' | 'plan' | 'account', message: string) => {
    if (body[field] === undefined && !flaws.some((flaw) => flaw.field === field)) flaws.push({ field, message });
  };
  if (!flaws.some(({ field }) => field === 'key')) missing('hash', 'is missing; use hash or key');
  missing('plan', 'is missing; use --plan for a default');
  missing('account', 'is missing; use --account for a default');
  if (given !== undefined && secret !== undefined && given !== secret)
    flaws.push({ field: 'hash', message: 'is not the hash of the key in this row' });
  const { account, label = null, addresses = null, scopes = [], metadata = {} } = body;
  if (account !== undefined) {
    const errors = formErrors({ account, label, addresses, scopes, metadata });
    // Without `quoting`, which has the value.
    flaws.push(...errors.map(({ field, message }) => ({ field, message })));
  }
  if (flaws.length > 0) return flaws;
  const present = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined));
  return { body: present as unknown as KeyBody, hadSecret: secret !== undefined };
}

class Flawed {
  readonly message: string;
  constructor(message: string) {
    this.message = message;
  }
}

function textIn(value: unknown, longest = Number.POSITIVE_INFINITY): string | Flawed {
  if (typeof value !== 'string') return new Flawed('is not text');
  return value.length > longest ? new Flawed(`is longer than ${longest} characters`) : value;
}

function hashIn(value: unknown): string | Flawed {
  const hash = typeof value === 'string' ? readHash(value) : null;
  return hash ?? new Flawed('is not a SHA-256 in hexadecimal, base64 or base64url');
}

function secretIn(value: unknown): string | Flawed {
  if (typeof value === 'string' && isPresentable(value)) return hashSecret(value);
  return new Flawed(`is not 1 to ${MAX_IMPORTED_LENGTH} visible ASCII characters`);
}

function limitsIn(value: unknown): string | Flawed {
  try {
    if (typeof value === 'string') return formatWindows(parseWindows(value));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
  }
  return new Flawed('must be one to four limits such as 600/minute,100000/day');
}

const LAST = Date.parse('9999-12-31T23:59:59.999Z');

/** RFC 3339, or Unix time: seconds in up to 11 digits, milliseconds in 12 and more. */
function timeIn(value: unknown): string | Flawed {
  const text = typeof value === 'number' && value >= 0 ? String(value) : value;
  const time =
    typeof text !== 'string'
      ? Number.NaN
      : /^\d{1,15}$/.test(text)
        ? Number(text) * (text.length < 12 ? 1_000 : 1)
        : isDateTime(text)
          ? Date.parse(text)
          : Number.NaN;
  if (time <= LAST) return new Date(time).toISOString();
  return new Flawed('is not a time such as 2030-01-31T00:00:00Z, or a Unix time');
}

/** An empty list means absent. */
function textsIn(value: unknown): readonly string[] | undefined | Flawed {
  if (!Array.isArray(value) || !value.every((one) => typeof one === 'string'))
    return new Flawed('is not a list of texts');
  return value.length === 0 ? undefined : value;
}

function metadataIn(value: unknown): Readonly<Record<string, string>> | Flawed {
  if (isObject(value) && Object.values(value).every((one) => typeof one === 'string'))
    return value as Readonly<Record<string, string>>;
  return new Flawed('is not an object with text values');
}
