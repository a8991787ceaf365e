import type { Operations } from '@storegate/admin-api';
import type { MaybePromise } from '../common/maybe-promise.ts';
import type { KeyRecord } from '../records/keys/key.ts';
import type { KeyStore } from '../records/keys/store.ts';
import {
  accountSubject,
  keySubject,
  subjectOf,
} from '../records/keys/subjects.ts';
import type { Ban } from '../state/state.ts';
import { AdminError } from './admin-error.ts';
import type { AdminContext } from './context.ts';
import { refuseUnknown } from './filters.ts';
import { readablePlans } from './readable-plans.ts';
import { keyView, statusOf } from './view.ts';

export const DEFAULT_LIMIT = 100;

/** For `listKeys`. */
type Query = Operations['listKeys']['query'];
interface Context extends Pick<AdminContext, 'uses' | 'plans' | 'contract'> {
  readonly keys: Pick<KeyStore, 'get' | 'read'>;
  readonly state: () => {
    /** In force. Rejects if the state is unreachable. */
    bans(): MaybePromise<readonly Pick<Ban, 'subject'>[]>;
  };
}

export const unknownPage = () =>
  new AdminError(
    'invalid_value',
    '`after` names nothing in this list: use the `next` of the page before.',
  );

/** Oldest first, including revoked keys. */
export async function keysOf(
  { keys }: AdminContext,
  account: string,
): Promise<KeyRecord[]> {
  return (await Array.fromAsync(keys.read({ account }))).flat();
}

/** Whether the client of a key is banned. */
type IsBanned = (record: KeyRecord) => boolean;

export async function bannedIn(context: Context): Promise<IsBanned> {
  const bans = await context.state().bans();
  if (bans.length === 0) return () => false;
  const banned = new Set(bans.map(({ subject }) => subject));
  const plans = readablePlans(context);
  // Unknown plans may count either.
  if (plans === null)
    return (record) =>
      banned.has(keySubject(record)) || banned.has(accountSubject(record));
  return (record) => banned.has(subjectOf(record, plans));
}

/** Throws AdminError. */
export async function keyPage(context: Context, query: Query, now: number) {
  const isBanned = await bannedIn(context);
  const { items, next } = await pageOf(context, query, now, isBanned);
  if (items.length === 0) await refuseUnknownIn(context, query, now);
  const uses = await context.uses.lastUsed(items.map(({ id }) => id));
  const shown = (record: KeyRecord) =>
    keyView(record, now, uses.get(record.id) ?? null, isBanned(record));
  return { keys: items.map(shown), next };
}

/** A filter is unknown only if no key at all has it. */
async function refuseUnknownIn(
  context: Context,
  query: Query,
  now: number,
): Promise<void> {
  const namesOf = {
    api: () => context.plans().apis ?? [],
    plan: () => [...context.plans().plans.keys()],
    scope: () => [
      ...new Set(
        context
          .contract()
          .operations.flatMap(({ requiredScopes }) => requiredScopes),
      ),
    ],
  };
  for (const name of ['plan', 'scope', 'api'] as const) {
    const value = query[name];
    if (value === undefined) continue;
    const { items } = await pageOf(
      context,
      { [name]: value, limit: 1 },
      now,
      () => false,
    );
    if (items.length > 0) continue;
    const what = name === 'api' ? 'API' : name;
    refuseUnknown(what, value, namesOf[name](), name);
  }
}

async function pageOf(
  { keys }: Context,
  query: Query,
  now: number,
  isBanned: IsBanned,
) {
  const {
    account,
    plan,
    find,
    after: afterId,
    sort = 'created',
    limit = DEFAULT_LIMIT,
  } = query;
  const fits = fitting(query, now, isBanned);
  const after =
    afterId === undefined
      ? undefined
      : ((await keys.get(afterId)) ?? undefined);
  if (afterId !== undefined && !after) throw unknownPage();
  // An exact id comes first.
  const meant = find === undefined ? null : await keys.get(find);
  const first = meant && !after && fits(meant) ? [meant] : [];
  const items: KeyRecord[] = [];
  let last: string | null = null;
  for await (const part of keys.read({
    account,
    plan,
    after,
    newestFirst: sort === '-created',
  })) {
    for (const record of part) {
      if (record.id !== meant?.id && fits(record)) {
        if (items.length === limit)
          return { items: [...first, ...items], next: last };
        items.push(record);
      }
      last = record.id;
    }
  }
  return { items: [...first, ...items], next: null };
}

function fitting(
  { account, plan, scope, api, status, label, find }: Query,
  now: number,
  isBanned: IsBanned,
): (record: KeyRecord) => boolean {
  const labelled = label?.toLowerCase();
  const found = find?.toLowerCase();
  const has = (text: string | null, part: string) =>
    text?.toLowerCase().includes(part) ?? false;
  return (record) =>
    (account === undefined || record.account === account) &&
    (plan === undefined || record.plan === plan) &&
    (scope === undefined || record.scopes.includes(scope)) &&
    (api === undefined || (record.apis ?? []).includes(api)) &&
    (status === undefined ||
      statusOf(record, now, isBanned(record)) === status) &&
    (labelled === undefined || has(record.label, labelled)) &&
    (found === undefined ||
      [record.id, record.account, record.label].some((text) =>
        has(text, found),
      ));
}
