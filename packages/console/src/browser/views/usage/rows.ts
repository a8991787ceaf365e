import type { UsageReport } from '@storegate/admin-api';
import { total } from '../../format.ts';

export type UsageRow = UsageReport['rows'][number];

/** The current month and those before it, newest first, as `2030-01`, in UTC. */
export function months(count: number, now = new Date()): string[] {
  return Array.from({ length: count }, (_, back) => {
    const begin = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back);
    return new Date(begin).toISOString().slice(0, 7);
  });
}

/** Begin and end of a month, exclusive, as dates. */
export function periodOf(month: string): {
  readonly from: string;
  readonly to: string;
} {
  const [year, number] = month.split('-').map(Number);
  const end = new Date(Date.UTC(year!, number!));
  return { from: `${month}-01`, to: end.toISOString().slice(0, 10) };
}

/** A client that calls a deprecated operation. */
export interface DeprecatedClient
  extends Pick<UsageRow, 'operation' | 'account' | 'key'> {
  readonly requests: number;
  /** A date in UTC. */
  readonly last: string;
}

/** From rows of `by=day,operation,account,key`, most calls first. */
export function clientsIn(rows: readonly UsageRow[]): DeprecatedClient[] {
  const clients = Map.groupBy(rows, ({ operation, account, key }) =>
    JSON.stringify([operation, account, key]),
  );
  return [...clients.values()]
    .map((some) => {
      const { operation, account, key, day } = some.at(-1)!;
      const requests = total(some, (row) => row.requests);
      return {
        operation,
        account,
        key,
        requests,
        last: day!,
      } as DeprecatedClient;
    })
    .sort((one, other) => other.requests - one.requests);
}
