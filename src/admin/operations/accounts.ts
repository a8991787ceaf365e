import { formatWindows } from '../../config/windows.ts';
import { AdminError } from '../admin-error.ts';
import { type AdminOperations, ok } from '../call.ts';
import type { AdminContext } from '../context.ts';
import { keyPage, page } from '../lists.ts';
import { statusOf } from '../view.ts';

interface Summary {
  keys: number;
  active: number;
  readonly plans: Set<string>;
}

const noKeys = (): Summary => ({ keys: 0, active: 0, plans: new Set() });

/** By account; keys are read in batches, because there may be millions. */
async function summaries(keys: AdminContext['keys'], now: number, account?: string): Promise<Map<string, Summary>> {
  const found = new Map<string, Summary>();
  for await (const batch of keys.read({ account })) {
    for (const record of batch) {
      const summary = found.get(record.account) ?? noKeys();
      summary.keys += 1;
      if (statusOf(record, now) === 'active') summary.active += 1;
      summary.plans.add(record.plan);
      found.set(record.account, summary);
    }
  }
  return found;
}

export function accountOperations(context: AdminContext) {
  function shown(account: string, { keys, active, plans }: Summary) {
    const windows = context.plans().accounts.get(account);
    return { account, limits: windows ? formatWindows(windows) : null, keys, active, plans: [...plans].sort() };
  }

  /** Throws AdminError. */
  async function known(account: string, now: number): Promise<Summary> {
    const summary = (await summaries(context.keys, now, account)).get(account);
    if (!summary && !context.plans().accounts.has(account))
      throw new AdminError(
        'not_found',
        `The account ${JSON.stringify(account)} does not exist: it has no key and no limits.`,
      );
    return summary ?? noKeys();
  }

  return {
    listAccounts: async ({ query, now }) => {
      const found = await summaries(context.keys, now);
      const accounts = new Set([...context.plans().accounts.keys(), ...found.keys()]);
      const { items, next } = page([...accounts].sort(), query);
      return ok({ accounts: items.map((account) => shown(account, found.get(account) ?? noKeys())), next });
    },
    getAccount: async ({ path, now }) => ok(shown(path.account!, await known(path.account!, now))),
    listKeysOfAccount: async ({ path, query, now }) => {
      await known(path.account!, now);
      return ok(await keyPage(context, { ...query, account: path.account! }, now));
    },
  } satisfies Partial<AdminOperations>;
}
