import type { TopItem, Top as TopResponse } from '@storegate/admin-api';
import { COUNTED, topTotal } from '@storegate/admin-api/text';
import { h } from 'preact';
import { useApis, useDayAgo, useQuery } from '../api/hooks.ts';
import { clockTime } from '../format.ts';
import {
  ageColumn,
  clientColumn,
  countColumn,
  operationColumn,
  planColumn,
  rowHeader,
  Share,
  Table,
} from '../parts/data.ts';
import { Choice } from '../parts/fields.ts';
import { queryView, View } from '../parts/view.ts';
import { goTo, linkTo, type Place } from '../routing.ts';

const WINDOWS = [
  ['minute', 'Last minute'],
  ['hour', 'Last hour'],
  ['day', 'Last day'],
] as const;

const BY = [
  ['requests', 'Requests'],
  ['refused', 'Refusals'],
  ['near-limit', 'Near a limit'],
  ['strikes', 'Ignoring Retry-After'],
  ['deprecated', 'Deprecated operations'],
  ['operations', 'Refusals by operation'],
] as const;

const optionOf = <T>(
  options: readonly (readonly [T, string])[],
  value: string | undefined,
) => options.find(([one]) => one === value)?.[0];

/** `storegate top`: who sends, and is refused, most. */
export function Top({ place: { query } }: { place: Place }) {
  const window = optionOf(WINDOWS, query.window) ?? 'hour';
  const by = optionOf(BY, query.by) ?? 'requests';
  const { api = '' } = query;
  const apis = useApis(api, { from: useDayAgo() });
  const reading = useQuery('getTop', {
    params: { window, by, api, limit: 50 },
    every: window === 'minute' ? 3_000 : 10_000,
  });
  const go = (changed: Readonly<Record<string, string>>) =>
    goTo(linkTo('top-clients', '', { window, by, api, ...changed }), {
      replace: true,
    });
  return h(
    View,
    {
      title: 'Top clients',
      about: 'Clients by requests and refusals',
      actions: [
        h(Choice, {
          label: 'In the',
          options: WINDOWS,
          value: window,
          onChoice: (one) => go({ window: one }),
        }),
        apis &&
          h(Choice, {
            label: 'API',
            options: apis,
            value: api,
            onChoice: (one) => go({ api: one }),
          }),
        h(Choice, {
          label: 'By',
          options: BY,
          value: by,
          onChoice: (one) => go({ by: one }),
        }),
      ],
    },
    queryView(reading, (top) => [h(Basis, { top }), h(Items, { top })]),
  );
}

/** What the figures count, and since when. */
function Basis({ top }: { top: TopResponse }) {
  return h('p', { class: 'about' }, topTotal(top, clockTime));
}

function Items({ top: { by, window, items } }: { top: TopResponse }) {
  const most = items[0]?.count ?? 0;
  const byKey = by !== 'operations';
  const operation = operationColumn('Operation', 'operation');
  return h(Table<TopItem>, {
    caption: `Top clients, last ${window}`,
    rows: items,
    keyOf: ({ key, operation }) => `${key} ${operation}`,
    empty: `No ${COUNTED[by]} in the last ${window}.`,
    columns: [
      byKey && rowHeader(clientColumn('Key', 'key')),
      by === 'operations' && rowHeader(operation),
      by === 'deprecated' && operation,
      countColumn('Count', 'count'),
      [
        'Of all',
        ({ share, count }) => h(Share, { share, length: count / most }),
      ],
      byKey && clientColumn('Account', 'account'),
      byKey && planColumn('Plan', 'plan'),
      ageColumn('Last', 'last'),
    ],
  });
}
