import { SECOND } from '../common/time.ts';
import { isReport } from '../observe/events.ts';
import {
  type Outcome,
  requestsOf,
  type UsageClient,
  type UsageRow,
  unpackRows,
} from './usage-table.ts';

const RANKED = [
  'requests',
  'refused',
  'near-limit',
  'strikes',
  'deprecated',
  'operations',
] as const;
export type Ranked = (typeof RANKED)[number];

export interface RankedItem {
  readonly client: UsageClient | null;
  readonly operation: string | null;
  count: number;
  /** Unix milliseconds. */
  last: number;
}

/** Excludes outages, aborted requests and statuses of backends. */
export const isRefused = ({ code, status }: Outcome): boolean =>
  code !== null && status >= 400 && status < 499 && !isReport(code);

/** What a row counts for; 0: nothing. */
const COUNTS: Readonly<
  Record<Ranked, (row: UsageRow, outcome: Outcome) => number>
> = {
  requests: requestsOf,
  refused: (row, outcome) => (isRefused(outcome) ? requestsOf(row) : 0),
  'near-limit': ({ marked }, { verdict }) =>
    verdict === 'admitted' ? marked : 0,
  strikes: ({ marked }, { verdict }) => (verdict === 'admitted' ? 0 : marked),
  deprecated: (row, { deprecated }) => (deprecated ? requestsOf(row) : 0),
  operations: (row, outcome) => (isRefused(outcome) ? requestsOf(row) : 0),
};

/** Adds up what is asked for, by key, by operation, or by both. */
export function createRanking(
  by: Ranked,
  includes = (_operation: string) => true,
) {
  const items = new Map<string, RankedItem>();
  let total = 0;

  function note(
    client: UsageClient,
    operation: string,
    count: number,
    last: number,
  ): void {
    const isOfKey = by !== 'operations';
    if (isOfKey && client.key === null) return;
    const isOfOperation = !isOfKey || by === 'deprecated';
    const name = `${isOfKey ? client.key : ''} ${isOfOperation ? operation : ''}`;
    const item = items.get(name) ?? {
      client: isOfKey ? client : null,
      operation: isOfOperation ? operation : null,
      count: 0,
      last: 0,
    };
    item.count += count;
    item.last = Math.max(item.last, last * SECOND);
    items.set(name, item);
    total += count;
  }

  return {
    get total() {
      return total;
    },
    /** `rows`: a part of a value. Throws as `unpackRows`. */
    add(rows: Uint8Array): void {
      const countOf = COUNTS[by];
      unpackRows(rows, ({ clients, operations, outcomes }) => (row) => {
        const operation = operations[row.operation]!;
        const added = countOf(row, outcomes[row.outcome]!);
        if (added > 0 && includes(operation))
          note(clients[row.client]!, operation, added, row.last);
      });
    },
    /** Most first; equal ones by name. */
    items(most: number): RankedItem[] {
      const all = [...items].sort(
        ([name, one], [other, { count }]) =>
          count - one.count || (name < other ? -1 : 1),
      );
      return all.slice(0, most).map(([, item]) => item);
    },
  };
}
