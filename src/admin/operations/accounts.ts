import { formatWindows } from '../../config/windows.ts';
import type { KeyRecord } from '../../records/keys/key.ts';
import { AdminError } from '../admin-error.ts';
import type { AdminOperations } from '../call.ts';
import type { AdminContext } from '../context.ts';
import { DEFAULT_LIMIT, keyPage, unknownPage } from '../lists.ts';
import { statusOf } from '../view.ts';

interface Summary {
  keys: number;
  active: number;
  readonly plans: Set<string>;
}

const noKeys = (): Summary => ({ keys: 0, active: 0, plans: new Set() });

/** By account. Keys are read in batches, because an account may have many. */
async function summaries(
  keys: AsyncIterable<readonly KeyRecord[]>,
  now: number,
): Promise<Map<string, Summary>> {
  const found = new Map<string, Summary>();
  for await (const batch of keys) {
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
    return {
      account,
      limits: windows ? formatWindows(windows) : null,
      keys,
      active,
      plans: [...plans].sort(),
    };
  }

  /** Throws AdminError. */
  async function summaryOf(account: string, now: number): Promise<Summary> {
    const summary = (await summaries(context.keys.read({ account }), now)).get(
      account,
    );
    if (!summary && !context.plans().accounts.has(account))
      throw new AdminError(
        'not_found',
        `The account ${JSON.stringify(account)} does not exist: it has no key and no limits.`,
      );
    return summary ?? noKeys();
  }

  /** Accounts with keys or with limits. */
  async function namesAfter(after: string, limit: number): Promise<string[]> {
    const withLimits = [...context.plans().accounts.keys()].filter(
      (account) => account > after,
    );
    const all = new Set([
      ...withLimits,
      ...(await context.keys.accounts(after, limit)),
    ]);
    return [...all].sort().slice(0, limit);
  }

  async function isAccount(name: string): Promise<boolean> {
    if (context.plans().accounts.has(name)) return true;
    for await (const batch of context.keys.read({ account: name }))
      if (batch.length > 0) return true;
    return false;
  }

  return {
    listAccounts: async ({ query, now }) => {
      const { after = '', limit = DEFAULT_LIMIT } = query;
      if (after !== '' && !(await isAccount(after))) throw unknownPage();
      // One more shows whether this is the last page.
      const names = await namesAfter(after, limit + 1);
      const items = names.slice(0, limit);
      const found = await summaries(context.keys.readAccounts(items), now);
      const next = names.length > limit ? items.at(-1)! : null;
      // A key whose addition was interrupted leaves a name without keys.
      const existing = items.filter(
        (account) =>
          found.has(account) || context.plans().accounts.has(account),
      );
      return {
        accounts: existing.map((account) =>
          shown(account, found.get(account) ?? noKeys()),
        ),
        next,
      };
    },
    getAccount: async ({ path, now }) =>
      shown(path.account, await summaryOf(path.account, now)),
    listKeysOfAccount: async ({ path, query, now }) => {
      await summaryOf(path.account, now);
      return await keyPage(context, { ...query, ...path }, now);
    },
  } satisfies Partial<AdminOperations>;
}
