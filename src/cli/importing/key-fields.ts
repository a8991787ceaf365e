import type { ManyImportedKeys } from '@storegate/admin-api';
import { isDateTime } from '@storegate/openapi/formats';
import { isObject } from '../../common/shapes.ts';
import { LAST_TIME } from '../../config/durations.ts';
import { ConfigError } from '../../config/problems/problems.ts';
import { formatWindows, parseWindows } from '../../config/windows.ts';
import { formErrors } from '../../records/keys/draft.ts';
import {
  hashSecret,
  isPresentable,
  MAX_IMPORTED_LENGTH,
  readHash,
} from '../../records/keys/secret.ts';
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
export function readKey(
  fields: Fields,
  defaults: Defaults,
): ReadKey | FieldError[] {
  const flaws: FieldError[] = [];
  /** `work` returns `null` for an invalid value. */
  function read<T>(
    field: Field,
    message: string,
    work: (value: unknown) => T | null,
  ): T | undefined {
    const value = fields[field] ?? '';
    const result = value === '' ? undefined : work(value);
    if (result === null) flaws.push({ field, message });
    return result ?? undefined;
  }

  const given = read(
    'hash',
    'is not a SHA-256 in hexadecimal, base64 or base64url',
    hashIn,
  );
  const secret = read(
    'key',
    `is not 1 to ${MAX_IMPORTED_LENGTH} visible ASCII characters`,
    secretIn,
  );
  const plan = read('plan', 'is not text', textIn);
  const body = {
    hash: given ?? secret,
    plan:
      (plan && read('plan', `is longer than ${MAX_PLAN} characters`, planIn)) ??
      defaults.plan,
    account: read('account', 'is not text', textIn) ?? defaults.account,
    label: read('label', 'is not text', textIn),
    limits: read(
      'limits',
      'must be one to 16 limits such as 600/minute,100000/day',
      limitsIn,
    ),
    expires: read(
      'expires',
      'is not a time such as 2030-01-31T00:00:00Z, or a Unix time',
      timeIn,
    ),
    addresses: read('addresses', 'is not a list of texts', textsIn),
    scopes: read('scopes', 'is not a list of texts', textsIn),
    apis: read('apis', 'is not a list of up to 100 names of APIs', apisIn),
    metadata: read('metadata', 'is not an object with text values', metadataIn),
    disabled: read('disabled', 'is not true or false', (value) =>
      typeof value === 'boolean' ? value : null,
    ),
  };
  const missing = (field: 'hash' | 'plan' | 'account', message: string) => {
    if (
      body[field] === undefined &&
      !flaws.some((flaw) => flaw.field === field)
    )
      flaws.push({ field, message });
  };
  if (!flaws.some(({ field }) => field === 'key'))
    missing('hash', 'is missing; use hash or key');
  missing('plan', 'is missing; use --plan for a default');
  missing('account', 'is missing; use --account for a default');
  if (given !== undefined && secret !== undefined && given !== secret)
    flaws.push({
      field: 'hash',
      message: 'is not the hash of the key in this row',
    });
  const {
    account,
    label = null,
    addresses = null,
    scopes = [],
    metadata = {},
  } = body;
  if (account !== undefined) {
    const errors = formErrors({ account, label, addresses, scopes, metadata });
    // Without `quoting`, which has the value.
    flaws.push(...errors.map(({ field, message }) => ({ field, message })));
  }
  if (flaws.length > 0) return flaws;
  const present = Object.fromEntries(
    Object.entries(body).filter(([, value]) => value !== undefined),
  );
  return {
    body: present as unknown as KeyBody,
    hadSecret: secret !== undefined,
  };
}

const textIn = (value: unknown): string | null =>
  typeof value === 'string' ? value : null;

const MAX_PLAN = 64;

const planIn = (value: unknown): string | null =>
  String(value).length > MAX_PLAN ? null : String(value);

const hashIn = (value: unknown): string | null =>
  typeof value === 'string' ? readHash(value) : null;

const secretIn = (value: unknown): string | null =>
  typeof value === 'string' && isPresentable(value) ? hashSecret(value) : null;

function limitsIn(value: unknown): string | null {
  try {
    return typeof value === 'string'
      ? formatWindows(parseWindows(value))
      : null;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return null;
  }
}

/** RFC 3339, or Unix time: seconds in up to 11 digits, milliseconds in 12 and more. */
function timeIn(value: unknown): string | null {
  const text = typeof value === 'number' && value >= 0 ? String(value) : value;
  if (typeof text !== 'string') return null;
  const isUnix = /^\d{1,15}$/.test(text);
  const time = isUnix
    ? Number(text) * (text.length < 12 ? 1_000 : 1)
    : isDateTime(text)
      ? Date.parse(text)
      : Number.NaN;
  return time <= LAST_TIME ? new Date(time).toISOString() : null;
}

/** An empty list means absent. */
function textsIn(value: unknown): readonly string[] | undefined | null {
  if (!Array.isArray(value) || !value.every((one) => typeof one === 'string'))
    return null;
  return value.length === 0 ? undefined : value;
}

function apisIn(value: unknown): readonly string[] | undefined | null {
  const names = textsIn(value) ?? [];
  const isFit =
    names.length <= 100 &&
    new Set(names).size === names.length &&
    names.every(({ length }) => length >= 1 && length <= 32);
  return isFit ? textsIn(value) : null;
}

function metadataIn(value: unknown): Readonly<Record<string, string>> | null {
  const isFit =
    isObject(value) &&
    Object.values(value).every((one) => typeof one === 'string');
  return isFit ? (value as Readonly<Record<string, string>>) : null;
}
