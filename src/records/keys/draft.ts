import type { KeyUpdate, NewKey } from '@storegate/admin-api';
import { ExpectedError } from '../../common/expected-error.ts';
import { parseCidr } from '../../common/ip.ts';
import {
  MAX_SCOPE_LENGTH,
  MAX_SCOPES,
  SCOPE_FORM,
  scopesError,
} from '../../common/scopes.ts';
import type { Window } from '../../limits/limits.ts';
import { apiFault, type Plans } from '../../limits/plans.ts';
import { readScope } from '../../limits/scopes.ts';
import { windowsOf } from './subjects.ts';

/** Fields of the admin API that are read into those of `ReadFields`. */
type Unread = 'limits' | 'expires' | 'expiresIn';

interface ReadFields {
  readonly windows?: readonly Window[] | null | undefined;
  /** Unix milliseconds. */
  readonly expiresAt?: number | null | undefined;
}

export interface KeyDraft extends Omit<NewKey, Unread>, ReadFields {}
export interface KeyPatch
  extends Omit<KeyUpdate, Unread | 'addScopes' | 'removeScopes'>,
    ReadFields {
  /** In place of `scopes`. */
  readonly scopeChange?: ScopeChange | undefined;
}

interface ScopeChange {
  readonly add: readonly string[];
  readonly remove: readonly string[];
}

export function changedScopes(
  before: readonly string[],
  { add, remove }: ScopeChange,
): readonly string[] {
  const all = new Set([...before, ...add]);
  return [...all].filter((scope) => !remove.includes(scope));
}

export class KeyError extends ExpectedError {
  override name = 'KeyError';
  readonly kind: 'invalid' | 'unknown' | 'conflict';
  /** The invalid field of a draft. */
  readonly field: DraftError['field'] | null;

  constructor(
    message: string,
    kind: 'invalid' | 'unknown' | 'conflict' = 'invalid',
    field: DraftError['field'] | null = null,
  ) {
    super(message);
    this.kind = kind;
    this.field = field;
  }
}

interface DraftError {
  readonly field: Exclude<keyof NewKey, 'expiresIn' | 'env'>;
  /** Contains no value of the draft, which may be a secret in the wrong place. */
  readonly message: string;
  /** The message with the value, shown only to the person who typed it. */
  readonly quoting?: string;
}

const ACCOUNT = /^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/;
const MAX_ADDRESSES = 100;
const MAX_METADATA = 20;

/** Throws KeyError for the first mistake. `given`: what is changed; names in the rest may be old. */
export function checkDraft(
  plans: Plans,
  draft: KeyDraft,
  now: number,
  given: KeyPatch = draft,
): void {
  const [flaw] = draftErrors(plans, draft, now, given);
  if (flaw)
    throw new KeyError(flaw.quoting ?? flaw.message, 'invalid', flaw.field);
}

/** `now` in Unix milliseconds. */
export function draftErrors(
  plans: Plans,
  draft: KeyDraft,
  now: number,
  given: KeyPatch = draft,
): DraftError[] {
  const { expiresAt = null } = draft;
  const past = expiresAt !== null && expiresAt <= now;
  return [
    ...formErrors(draft),
    ...planErrors(plans, draft),
    ...apiErrors(plans, given),
    ...(past
      ? [{ field: 'expires', message: 'the expiry is in the past' } as const]
      : []),
  ];
}

export function formErrors(draft: Omit<KeyDraft, 'plan'>): DraftError[] {
  return [
    ...accountErrors(draft),
    ...labelErrors(draft),
    ...addressErrors(draft.addresses ?? []),
    ...scopeErrors(draft.scopes ?? []),
    ...metadataErrors(draft.metadata ?? {}),
  ];
}

function accountErrors({ account }: Pick<KeyDraft, 'account'>): DraftError[] {
  if (ACCOUNT.test(account)) return [];
  const message =
    'an account is 1 to 64 letters, digits, dots, dashes, underscores or @, and starts with a letter or digit';
  return [{ field: 'account', message }];
}

function labelErrors({ label }: Pick<KeyDraft, 'label'>): DraftError[] {
  return (label ?? '').length > 200
    ? [{ field: 'label', message: 'a label has at most 200 characters' }]
    : [];
}

function planErrors(
  plans: Plans,
  { account, plan: name, windows = null }: KeyDraft,
): DraftError[] {
  const plan = plans.plans.get(name);
  const names = [...plans.plans.keys()].join(', ');
  if (!plan) {
    const quoting = `the plan ${JSON.stringify(name)} does not exist; plans: ${names}`;
    return [
      {
        field: 'plan',
        message: `the plan does not exist; plans: ${names}`,
        quoting,
      },
    ];
  }
  if (windows && plan.count === 'account') {
    const of = (who: string) =>
      `plan ${name} counts accounts: set the limits of ${who} in the plans file instead`;
    return [
      {
        field: 'limits',
        message: of('the account'),
        quoting: of(`account ${account}`),
      },
    ];
  }
  if (windowsOf({ account, plan: name, windows }, plans)) return [];
  const message = `plan ${name} has no limits of its own: add limits, such as 600/minute,100000/day`;
  return [{ field: 'limits', message }];
}

function apiErrors(plans: Plans, { windows, apis }: KeyPatch): DraftError[] {
  const named = [
    ...(windows ?? []).map(({ scope }) => ({
      field: 'limits' as const,
      name: scope && readScope(scope).name,
    })),
    ...(apis ?? []).map((name) => ({ field: 'apis' as const, name })),
  ];
  return named.flatMap(({ field, name }) => {
    const fault = name === undefined ? null : apiFault(name, plans);
    if (fault === null) return [];
    const message = `the API of a ${field === 'apis' ? 'key' : 'limit'} ${fault}`;
    return [
      { field, message, quoting: `${message}, is ${JSON.stringify(name)}` },
    ];
  });
}

function addressErrors(addresses: readonly string[]): DraftError[] {
  if (addresses.length > MAX_ADDRESSES)
    return [
      {
        field: 'addresses',
        message: `a key has at most ${MAX_ADDRESSES} address blocks`,
      },
    ];
  const at = addresses.findIndex((block) => parseCidr(block) === null);
  if (at === -1) return [];
  const form =
    'is not an address, or a block such as 10.0.0.0/8 that begins with its first address';
  const quoting = `${JSON.stringify(addresses[at]!.slice(0, 64))} ${form}`;
  return [
    { field: 'addresses', message: `address ${at + 1} ${form}`, quoting },
  ];
}

function scopeErrors(scopes: readonly string[]): DraftError[] {
  const flaw = scopesError(scopes);
  if (flaw === null) return [];
  if (flaw.kind === 'many')
    return [
      { field: 'scopes', message: `a key has at most ${MAX_SCOPES} scopes` },
    ];
  const wrong =
    flaw.kind === 'twice'
      ? 'is there before'
      : `is not a valid scope name: ${SCOPE_FORM}`;
  const quoting = `${JSON.stringify(scopes[flaw.at]!.slice(0, MAX_SCOPE_LENGTH))} ${wrong}`;
  return [
    { field: 'scopes', message: `scope ${flaw.at + 1} ${wrong}`, quoting },
  ];
}

function metadataErrors(
  metadata: Readonly<Record<string, string>>,
): DraftError[] {
  const entries = Object.entries(metadata);
  if (entries.length > MAX_METADATA)
    return [
      {
        field: 'metadata',
        message: `a key has at most ${MAX_METADATA} metadata entries`,
      },
    ];
  const good = entries.every(
    ([name, value]) =>
      /^[A-Za-z][A-Za-z0-9._-]{0,63}$/.test(name) && value.length <= 500,
  );
  if (good) return [];
  const message =
    'metadata: names are up to 64 letters, digits, dots, dashes and underscores, values up to 500 characters';
  return [{ field: 'metadata', message }];
}
