import { isIP } from 'node:net';
import { ExpectedError } from '../common/expected-error.ts';
import type { Window } from '../limits/limits.ts';
import type { Plans } from '../limits/plans.ts';
import { windowsOf } from './counting.ts';

/** What an operator says about a key to issue it. */
export interface KeyDraft {
  readonly account: string;
  readonly plan: string;
  readonly label?: string | null;
  readonly windows?: readonly Window[] | null;
  /** Addresses or CIDR blocks that the key may be used from. */
  readonly addresses?: readonly string[] | null;
  readonly metadata?: Readonly<Record<string, string>>;
  /** Unix milliseconds. */
  readonly expiresAt?: number | null;
  /** The word in the secret that tells installations apart; `live` by default. */
  readonly env?: string;
}

/** A draft or key that cannot be used; the message says what to change. */
export class KeyError extends ExpectedError {
  override name = 'KeyError';
  readonly kind: 'invalid' | 'unknown' | 'conflict';

  constructor(message: string, kind: 'invalid' | 'unknown' | 'conflict' = 'invalid') {
    super(message);
    this.kind = kind;
  }
}

const ACCOUNT = /^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/;
const MOST_ADDRESSES = 100;
const MOST_METADATA = 20;

/** Throws KeyError for the first mistake. */
export function checkDraft(plans: Plans, draft: KeyDraft, now: number): void {
  const { expiresAt } = draft;
  checkTraits(draft);
  checkPlan(plans, draft);
  if (expiresAt !== undefined && expiresAt !== null && expiresAt <= now)
    throw new KeyError('the expiry is in the past');
}

/** What is right or wrong of a key by itself, whatever plans there are and whatever time it is. Throws KeyError. */
export function checkTraits(draft: Pick<KeyDraft, 'account' | 'label' | 'addresses' | 'metadata'>): void {
  if (!ACCOUNT.test(draft.account)) {
    throw new KeyError(
      'an account is 1 to 64 letters, digits, dots, dashes, underscores or @, and starts with a letter or digit',
    );
  }
  if (draft.label !== undefined && draft.label !== null && draft.label.length > 200)
    throw new KeyError('a label has at most 200 characters');
  checkAddresses(draft.addresses ?? []);
  checkMetadata(draft.metadata ?? {});
}

function checkPlan(plans: Plans, { account, plan: name, windows = null }: KeyDraft): void {
  const plan = plans.plans.get(name);
  if (!plan)
    throw new KeyError(`there is no plan ${JSON.stringify(name)}; there are ${[...plans.plans.keys()].join(', ')}`);
  if (windows && plan.count === 'account') {
    throw new KeyError(`plan ${name} counts accounts: set the limits of account ${account} in the plans file instead`);
  }
  if (!windowsOf({ account, plan: name, windows }, plans)) {
    throw new KeyError(`plan ${name} has no limits of its own: give the key some, such as 600/minute,100000/day`);
  }
}

function checkAddresses(addresses: readonly string[]): void {
  if (addresses.length > MOST_ADDRESSES) throw new KeyError(`a key has at most ${MOST_ADDRESSES} address blocks`);
  const wrong = addresses.find((block) => !isBlock(block));
  if (wrong !== undefined) {
    throw new KeyError(
      `${JSON.stringify(wrong.slice(0, 64))} is no address or block such as 10.0.0.0/8 or 2001:db8::/32`,
    );
  }
}

function isBlock(block: string): boolean {
  const [address = '', bits, ...more] = block.split('/');
  const family = isIP(address);
  if (family === 0 || more.length > 0 || address.includes('%')) return false;
  return bits === undefined || (/^(0|[1-9]\d{0,2})$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}

function checkMetadata(metadata: Readonly<Record<string, string>>): void {
  const entries = Object.entries(metadata);
  if (entries.length > MOST_METADATA) throw new KeyError(`a key has at most ${MOST_METADATA} metadata entries`);
  for (const [name, value] of entries) {
    if (!/^[A-Za-z][A-Za-z0-9._-]{0,63}$/.test(name) || value.length > 500) {
      throw new KeyError(
        'metadata: names are up to 64 letters, digits, dots, dashes and underscores, values up to 500 characters',
      );
    }
  }
}
