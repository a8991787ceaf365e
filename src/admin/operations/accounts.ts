import { formatWindows } from '../../config/windows.ts';
import type { KeyRecord } from '../../keys/key.ts';
import { AdminError } from '../admin-error.ts';
import { type AdminOperations, ok } from '../call.ts';
import type { AdminContext } from '../context.ts';
import { keyPage, keysOf, page } from '../lists.ts';
import { statusOf } from '../view.ts';

export function accountOperations(context: AdminContext) {
  function shown(account: string, keys: readonly KeyRecord[], now: number) {
    const windows = context.plans().accounts.get(account);
    return {
      account,
      limits: windows ? formatWindows(windows) : null,
      keys: keys.length,
      active: keys.filter((record) => statusOf(record, now) === 'active').length,
      plans: [...new Set(keys.map(({ plan }) => plan))].sort(),
    };
  }

  async function known(account: string): Promise<KeyRecord[]> {
    const keys = await keysOf(context, account);
    if (keys.length === 0 && !context.plans().accounts.has(account))
      throw new AdminError(
        'not_found',
        `The account ${JSON.stringify(account)} does not exist: it has no key and no limits.`,
      );
    return keys;
  }

  return {
    listAccounts: async ({ query, now }) => {
      const keys = Map.groupBy(await context.keys.list(), ({ account }) => account);
      const accounts = new Set([...context.plans().accounts.keys(), ...keys.keys()]);
      const { items, next } = page([...accounts].sort(), query);
      return ok({ accounts: items.map((account) => shown(account, keys.get(account) ?? [], now)), next });
    },
    getAccount: async ({ path, now }) => ok(shown(path.account!, await known(path.account!), now)),
    listKeysOfAccount: async ({ path, query, now }) => {
      await known(path.account!);
      return ok(await keyPage(context, { ...query, account: path.account! }, now));
    },
  } satisfies Partial<AdminOperations>;
}
