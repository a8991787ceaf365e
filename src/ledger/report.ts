import { setImmediate } from 'node:timers/promises';
import { DAY, HOUR, MINUTE } from '../common/time.ts';
import { apiNameIn } from '../config/apis.ts';
import { inApi } from '../limits/scopes.ts';
import { startOf } from './names.ts';
import { isRefused } from './ranking.ts';
import type { Period, UsageReader } from './reader.ts';
import {
  addRows,
  type Outcome,
  type Projection,
  requestsOf,
  type UsageRow,
  UsageTable,
} from './usage-table.ts';
import type { Value } from './value.ts';

/** In the order of columns. `code`: of the error catalogue; null for responses of the backend. */
export const DIMENSIONS = [
  'day',
  'hour',
  'minute',
  'account',
  'key',
  'plan',
  'api',
  'operation',
  'status',
  'code',
] as const;
export type Dimension = (typeof DIMENSIONS)[number];

export const FIGURES = [
  'requests',
  'units',
  'refused',
  'failed',
  'received',
  'sent',
  'within10ms',
  'within100ms',
  'within1s',
  'within10s',
  'slower',
] as const;

type ReportFilter = Partial<
  Readonly<
    Record<'account' | 'key' | 'plan' | 'api' | 'operation' | 'status', string>
  >
>;

export interface ReportQuestion extends Period {
  readonly by: readonly Dimension[];
  /** Only calls of deprecated operations. */
  readonly deprecated?: boolean;
  /** None if one is alone. */
  readonly apis?: ReadonlySet<string>;
  readonly filter: ReportFilter;
}

/** Dimensions of the question in the order of DIMENSIONS, then FIGURES. */
export type ReportRow = readonly (string | number | null)[];

export const dimensionsOf = ({ by }: Pick<ReportQuestion, 'by'>): Dimension[] =>
  DIMENSIONS.filter((name) => by.includes(name));

/** Times that a row may have, the shortest first. */
const TIMES = { minute: MINUTE, hour: HOUR, day: DAY } as const;
const GRAINS = ['minute', 'hour', 'day'] as const;

/**
 * Rows in lists. With a time as dimension only the rows of one are in memory at once. Rejects if
 * the store is unreachable.
 */
export async function* report(
  reader: Pick<UsageReader, 'values'>,
  question: ReportQuestion,
): AsyncGenerator<readonly ReportRow[]> {
  const span = spanOf(question);
  const grain = GRAINS.find((name) => question.by.includes(name)) ?? 'day';
  let groups: Report | null = null;
  for await (const value of reader.values(question, grain)) {
    const start = span === null ? 0 : startOf(value.start, span);
    if (groups?.start !== start) {
      yield* pausing(groups);
      groups = createReport(question, start);
    }
    await groups.add(value);
  }
  yield* pausing(groups);
}

/** Other work gets its turn after each list. */
async function* pausing(groups: Report | null) {
  for (const rows of groups?.rows() ?? []) {
    yield rows;
    await setImmediate();
  }
}

/** Milliseconds; `null`: rows have no time. */
export function spanOf({ by }: Pick<ReportQuestion, 'by'>): number | null {
  const grain = GRAINS.find((name) => by.includes(name));
  return grain === undefined ? null : TIMES[grain];
}

const NONE: ReadonlySet<string> = new Set();

/** Rows between two turns for other work. */
const AT_ONCE = 500;

export type Report = ReturnType<typeof createReport>;

/**
 * Sums of values by the dimensions of a question. `start`: the time of its rows, Unix milliseconds.
 */
export function createReport(question: ReportQuestion, start = 0) {
  const as = projectionOf(question);
  const table = new UsageTable(undefined, { isWide: true });

  function sumsOf(client: number, shown: readonly number[]) {
    const sums = new Map<number, { row: UsageRow; sums: number[] }>();
    for (const place of table.rowsOf(client)) {
      const row = table.read(place);
      const figures = figuresOf(row, table.names.outcomes[row.outcome]!);
      const name = row.operation * 0x1_0000 + shown[row.outcome]!;
      const existing = sums.get(name);
      if (existing === undefined) sums.set(name, { row, sums: figures });
      else
        for (const [i, figure] of figures.entries())
          existing.sums[i]! += figure;
    }
    return sums.values();
  }

  function namesOf(row: UsageRow, time: ReturnType<typeof timesOf>) {
    const { clients, operations, outcomes } = table.names;
    const { key, account, plan } = clients[row.client]!;
    const { status, code } = outcomes[row.outcome]!;
    const operation = operations[row.operation]!;
    const api = apiNameIn(operation, question.apis ?? NONE);
    return { key, account, plan, api, operation, status, code, ...time };
  }

  return {
    start,
    async add(value: Value): Promise<void> {
      for (const part of value.usage()) {
        addRows(table, part, as);
        await setImmediate();
      }
    },
    *rows(): Generator<readonly ReportRow[]> {
      const { clients, outcomes } = table.names;
      const columns = dimensionsOf(question);
      const time = timesOf(start);
      // Outcomes differ in what `refused` and `failed` count, too.
      const shown = outcomes.map(({ status, code }) =>
        outcomes.findIndex((one) => one.status === status && one.code === code),
      );
      let rows: ReportRow[] = [];
      for (const client of clients.keys()) {
        for (const { row, sums } of sumsOf(client, shown)) {
          const values = namesOf(row, time);
          rows.push([...columns.map((name) => values[name]), ...sums]);
        }
        if (rows.length < AT_ONCE) continue;
        yield rows;
        rows = [];
      }
      if (rows.length > 0) yield rows;
    },
  };
}

const timesOf = (start: number) => {
  const time = new Date(start).toISOString();
  return {
    minute: time,
    hour: `${time.slice(0, 13)}:00:00.000Z`,
    day: time.slice(0, 10),
  };
};

/** What a row counts for. `verdict`: as projected. In the order of FIGURES. */
function figuresOf(row: UsageRow, { verdict }: Outcome): number[] {
  const requests = requestsOf(row);
  return [
    requests,
    row.units,
    verdict === 'refused' ? requests : 0,
    verdict === 'failed' ? requests : 0,
    row.received,
    row.sent,
    ...Array.from(row.requests),
  ];
}

/** Keeps the dimensions of a question, and of outcomes in place of the verdict what they count for. */
function projectionOf(question: ReportQuestion): Projection {
  const { by, filter, deprecated: deprecatedOnly, apis = NONE } = question;
  const [hasAccount, hasKey, hasPlan, hasOperation, hasStatus, hasCode] = (
    ['account', 'key', 'plan', 'operation', 'status', 'code'] as const
  ).map((name) => by.includes(name));
  const fits = (name: keyof ReportFilter, value: string | number | null) =>
    filter[name] === undefined ||
    (value !== null && filter[name] === String(value));
  return {
    client({ account, key, plan }) {
      if (!fits('account', account) || !fits('key', key) || !fits('plan', plan))
        return null;
      return {
        key: hasKey ? key : null,
        account: hasAccount ? account : null,
        plan: hasPlan ? plan : null,
      };
    },
    operation(name) {
      const api = apiNameIn(name, apis);
      if (!fits('operation', name) || !fits('api', api)) return null;
      if (hasOperation) return name;
      return by.includes('api') ? inApi(api, '') : '';
    },
    outcome(outcome) {
      const { status, code, deprecated } = outcome;
      if (!fits('status', status) || (deprecatedOnly && !deprecated))
        return null;
      const failed = status >= 500 ? 'failed' : null;
      return {
        status: hasStatus ? status : 0,
        code: hasCode ? code : null,
        verdict: isRefused(outcome) ? 'refused' : failed,
        deprecated: false,
      };
    },
  };
}
