import type { TopItem, UsageReport } from '@storegate/admin-api';
import {
  droppedRequests,
  lostGateway,
  NO_USAGE,
  number,
} from '@storegate/admin-api/text';
import { h } from 'preact';
import { useState } from 'preact/hooks';
import { usageDownload } from '../api/client.ts';
import { useApis, useQuery } from '../api/hooks.ts';
import { clockTime, total } from '../format.ts';
import { Chart } from '../parts/chart.ts';
import {
  ageColumn,
  bytesColumn,
  ClientLink,
  type Column,
  clientColumn,
  countColumn,
  operationColumn,
  planColumn,
  rowHeader,
  Share,
  Table,
  textColumn,
} from '../parts/data.ts';
import { Filters } from '../parts/fields.ts';
import { filtersOf } from '../parts/filters.ts';
import { outcomeSeries } from '../parts/series.ts';
import { asParagraph, Notice, queryView, View } from '../parts/view.ts';
import { linkTo, type Place } from '../routing.ts';
import { outcomeOf, requestsOf, startsOf } from './keys/usage-steps.ts';
import {
  clientsIn,
  type DeprecatedClient,
  months,
  periodOf,
  type UsageRow,
} from './usage/rows.ts';

const BY = [
  ['account', 'Account'],
  ['account,operation', 'Account and operation'],
  ['account,key', 'Key'],
  ['plan', 'Plan'],
  ['operation', 'Operation'],
  ['day', 'Day'],
] as const;

/** Months that `usage.days` keeps by default. */
const MONTHS = 13;
/** Rows that are shown; a download has all. */
const SHOWN = 200;

/** `storegate usage report`: who used what in a month, as a table and a file. */
export function Usage({ place: { query } }: { place: Place }) {
  const all = months(MONTHS);
  const { account = '', api = '', operation = '' } = query;
  const month = all.find((one) => one === query.month) ?? all[0]!;
  const by = BY.find(([columns]) => columns === query.by)?.[0] ?? 'account';
  const filter = { account, api, operation };
  const params = { ...periodOf(month), by, ...filter };
  const reading = useQuery('getUsageReport', {
    params: { ...params, partial: true },
  });
  const filters = filtersOf('usage', { month, by, ...filter });
  const apis = useApis(api, periodOf(month));
  return h(
    View,
    {
      title: 'Usage',
      about: 'Requests and units of a month, in UTC',
      actions: h(
        'a',
        {
          class: 'button',
          href: usageDownload(params),
          download: `usage-${month}-by-${by.replace(',', '-')}.csv`,
        },
        'Download (CSV)',
      ),
    },
    h(
      Filters,
      {
        label: 'Filter usage',
        onChange: filters.onChange,
        all: (account || api || operation) && linkTo('usage', '', { by }),
      },
      [
        filters.choice(
          'month',
          'Month',
          all.map((one) => [one, monthName(one)] as const),
        ),
        filters.choice('by', 'By', BY),
        filters.search('account', 'Account', 256),
        apis && filters.choice('api', 'API', apis),
        filters.search('operation', 'Operation', 200),
      ],
    ),
    queryView(reading, (report) => [
      h(Gaps, { report }),
      h(Days, { month, ...filter }),
      h(Rows, { rows: report.rows, by }),
    ]),
    h(NearLimit, null),
    h(DeprecatedCalls, null),
  );
}

const monthName = (month: string) =>
  new Date(`${month}-01`).toLocaleDateString('en-GB', {
    month: 'long',
    year: 'numeric',
    timeZone: 'UTC',
  });

/** What the figures lack. */
function Gaps({ report }: { report: UsageReport }) {
  const { dropped } = report;
  const gaps = [
    ...report.lost.map((one) => lostGateway(one, clockTime)),
    ...(dropped > 0 ? [droppedRequests(dropped)] : []),
  ];
  if (gaps.length === 0) return null;
  return h(Notice, { tone: 'warn' }, gaps.map(asParagraph));
}

const DIMENSIONS: Readonly<Record<string, Column<UsageRow>>> = {
  day: ['Day', ({ day }) => day, 'names'],
  account: ['Account', ({ account }) => whose(account), 'names'],
  key: clientColumn('Key', 'key'),
  plan: rowHeader(planColumn('Plan', 'plan')),
  operation: operationColumn('Operation', 'operation'),
};

const whose = (account: string | null | undefined) =>
  account ? h(ClientLink, { who: account }) : 'without a valid key';

const DAY_LINE = { by: 'day', length: 86_400_000 } as const;

/** What became of the requests of each day of the month. */
function Days({
  month,
  ...filter
}: {
  month: string;
  account: string;
  api: string;
  operation: string;
}) {
  const { from, to } = periodOf(month);
  const query = useQuery('getUsageReport', {
    params: { from, to, ...filter, by: 'day,status,code', partial: true },
  });
  const starts = startsOf(from, DAY_LINE, Math.min(Date.now(), Date.parse(to)));
  return queryView(query, ({ rows, since }) => {
    const byOutcome = Map.groupBy(rows, outcomeOf);
    return h(
      'div',
      { class: 'charts' },
      h(Chart, {
        title: 'Requests per day',
        kind: 'bars',
        starts,
        grain: 'day',
        series: outcomeSeries((outcome) =>
          requestsOf(byOutcome.get(outcome) ?? [], starts, DAY_LINE, since),
        ),
        format: number,
      }),
    );
  });
}

const FIGURES = [
  'units',
  'requests',
  'refused',
  'failed',
  'received',
  'sent',
] as const;

function Rows({ rows, by }: { rows: readonly UsageRow[]; by: string }) {
  const sorted =
    by === 'day'
      ? rows
      : rows.toSorted((one, other) => other.units - one.units);
  const sums = FIGURES.map(
    (name) => [name, total(rows, (row) => row[name])] as const,
  );
  const [first] = rows;
  const all = first && { ...first, ...Object.fromEntries(sums) };
  const most = Math.max(1, ...rows.map(({ units }) => units));
  return [
    h(Table<UsageRow>, {
      caption: 'Usage',
      rows: sorted.slice(0, SHOWN),
      keyOf: (row) =>
        JSON.stringify([
          row.day,
          row.account,
          row.key,
          row.plan,
          row.operation,
        ]),
      empty: NO_USAGE,
      total: all,
      columns: [
        ...by.split(',').map((name) => DIMENSIONS[name]!),
        countColumn('Units', 'units'),
        [
          'Share',
          ({ units }) =>
            h(Share, {
              share: units / Math.max(1, all!.units),
              length: units / most,
            }),
        ],
        countColumn('Requests', 'requests'),
        countColumn('Refused', 'refused'),
        countColumn('Failed', 'failed'),
        bytesColumn('Received', 'received'),
        bytesColumn('Sent', 'sent'),
      ],
    }),
    rows.length > SHOWN &&
      h(
        'p',
        { class: 'about' },
        `The first ${SHOWN} of ${number(rows.length)}: a download has all.`,
      ),
  ];
}

/** Clients near a limit that are listed; the view Top clients has more. */
const NEAR = 5;

/** Who may need a larger plan. */
function NearLimit() {
  const query = useQuery('getTop', {
    params: { window: 'day', by: 'near-limit', limit: NEAR },
  });
  return [
    h('h2', null, 'Near a limit, last day'),
    queryView(query, ({ items }) => [
      h(Table<TopItem>, {
        caption: 'Clients near a limit',
        rows: items,
        keyOf: ({ key }) => key ?? '',
        empty: 'No client used more than 80 % of a limit.',
        columns: [
          rowHeader(clientColumn('Key', 'key')),
          clientColumn('Account', 'account'),
          planColumn('Plan', 'plan'),
          countColumn('Requests with 20 % or less left', 'count'),
          ageColumn('Last', 'last'),
        ],
      }),
      items.length === NEAR &&
        h(
          'p',
          null,
          h(
            'a',
            { href: linkTo('top-clients', '', { by: 'near-limit' }) },
            'All clients near a limit',
          ),
        ),
    ]),
  ];
}

/** Days in which calls of deprecated operations are looked for. */
const DAYS = 90;

/** Who calls what is deprecated: whom to write to before it is removed. */
function DeprecatedCalls() {
  const [from] = useState(() =>
    new Date(Date.now() - DAYS * 86_400_000).toISOString().slice(0, 10),
  );
  const query = useQuery('getUsageReport', {
    params: {
      from,
      by: 'day,operation,account,key',
      deprecated: true,
      partial: true,
    },
  });
  return [
    h('h2', null, `Deprecated operations, last ${DAYS} days`),
    queryView(query, ({ rows }) =>
      h(Table<DeprecatedClient>, {
        caption: 'Calls of deprecated operations',
        rows: clientsIn(rows).slice(0, SHOWN),
        keyOf: ({ operation, account, key }) =>
          JSON.stringify([operation, account, key]),
        empty: 'No calls of deprecated operations.',
        columns: [
          rowHeader(operationColumn('Operation', 'operation')),
          ['Account', ({ account }) => whose(account)],
          clientColumn('Key', 'key'),
          countColumn('Requests', 'requests'),
          textColumn('Last', 'last'),
        ],
      }),
    ),
  ];
}
