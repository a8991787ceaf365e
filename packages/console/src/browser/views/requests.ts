import type { Requests as Page, RefusedRequest } from '@storegate/admin-api';
import {
  number,
  operationText,
  POLL_INTERVAL,
} from '@storegate/admin-api/text';
import { h } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useApis, useDayAgo, useQuery } from '../api/hooks.ts';
import { ClientLink, statusWithCode, Table, Time } from '../parts/data.ts';
import { Filters } from '../parts/fields.ts';
import { filtersOf } from '../parts/filters.ts';
import { LiveSwitch } from '../parts/live.ts';
import { queryView, View } from '../parts/view.ts';
import { linkTo, type Place } from '../routing.ts';
import { ExplainedRequest } from './requests/explanation.ts';
import { groupsOf, type Tail, timesOf, withRefused } from './requests/tail.ts';

/**
 * What was refused, as it is refused; or all that is known of one request, where its id is in the
 * address.
 */
export function Requests({ place }: { place: Place }) {
  return place.rest === ''
    ? h(Refusals, { place })
    : h(ExplainedRequest, { id: place.rest });
}

/**
 * `storegate requests`, live: refusals and failures as they come, of all or of a key, an account, an
 * API or a code.
 */
function Refusals({ place }: { place: Place }) {
  const { key = '', account = '', api = '', code = '' } = place.query;
  const { after = '' } = place.query;
  const filter = { key, account, api, code };
  const filtered = key || account || api || code;
  const [tail, setTail] = useState<Tail | null>(null);
  const [paused, setPaused] = useState(false);
  // New refusals belong to the first page.
  const isLive = after === '';
  const query = useQuery('listRequests', {
    params: { ...filter, after },
    ...(isLive && { every: paused ? null : POLL_INTERVAL, onward: newerThan }),
  });
  const page = query.value;
  useEffect(() => setTail(null), [key, account, api, code, after]);
  useEffect(() => {
    if (page) setTail((before) => withRefused(before, page));
  }, [page]);
  const filters = filtersOf('requests', filter);
  const codes = useCodes(code);
  const apis = useApis(api, { from: useDayAgo() });
  return h(
    View,
    {
      title: 'Requests',
      about: 'Refused and failed requests',
      actions: isLive && h(LiveSwitch, { query, paused, setPaused }),
    },
    [
      h(
        Filters,
        {
          label: 'Filter requests',
          onChange: filters.onChange,
          all: filtered && linkTo('requests'),
        },
        [
          filters.search('key', 'Key', 100, 'key_…'),
          filters.search('account', 'Account', 100, 'acme'),
          apis && filters.choice('api', 'API', apis),
          filters.choice('code', 'Code', codes),
        ],
      ),
      queryView(query, () => tail && listOf(tail, filtered !== '')),
      filters.pager('after', { of: 'refusals', at: after, next: tail?.next }),
    ],
  );
}

const newerThan = ({ newest }: Pick<Page, 'newest'>) =>
  newest === null ? {} : { newer: newest };

/** Codes of the last day, and how often each occurred. Failures of backends have a status only. */
function useCodes(code: string) {
  const from = useDayAgo();
  const query = useQuery('getUsageReport', {
    params: { from, by: 'status,code', partial: true },
    every: 60_000,
  });
  const rows = query.value?.rows ?? [];
  const counts = new Map(code === '' ? [] : [[code, 0]]);
  for (const row of rows) {
    const name = row.code ?? (row.status! >= 500 ? String(row.status) : '');
    counts.set(name, (counts.get(name) ?? 0) + row.requests);
  }
  counts.delete('');
  const names = [...counts].sort(([, one], [, other]) => other - one);
  const options = names.map(
    ([name, count]) => [name, `${name} (${number(count)})`] as const,
  );
  return [['', 'all'], ...options] as const;
}

function listOf({ requests, isCut }: Tail, filtered: boolean) {
  return [
    isCut &&
      h('p', { class: 'about' }, [
        `Too many came at the same time to list them all${filtered ? '' : ': a filter shows those of one key, account or code'}.`,
      ]),
    h(Table<Tail['requests']>, {
      caption: 'Refusals and failures, newest first',
      rows: groupsOf(requests),
      // The newest changes while one looks.
      keyOf: (group) => group.at(-1)!.id,
      empty: filtered
        ? 'None in memory. New ones appear here.'
        : 'None in memory: nothing was refused, or explain.bufferSize is 0. New ones appear here.',
      toneOf: ([first]) => (first!.status >= 500 ? 'bad' : undefined),
      columns: [
        ['At', ([first]) => h(RequestLink, { request: first! }), 'names'],
        ['Code', ([first]) => statusWithCode(first!)],
        [
          'Operation',
          ([first]) => `${first!.method} ${operationText(first!.operation)}`,
        ],
        ['Key', ([first]) => h(ClientLink, { who: first!.key?.id ?? null })],
        [
          'Account',
          ([first]) => h(ClientLink, { who: first!.key?.account ?? null }),
        ],
        ['Address', ([first]) => first!.address],
        ['Times', (group) => h(Times, { group }), 'figure'],
      ],
    }),
  ];
}

function RequestLink({ request: { id, at } }: { request: RefusedRequest }) {
  return h('a', { href: linkTo('requests', id) }, h(Time, { at }));
}

/** How often, with links to the earlier requests. */
function Times({ group }: { group: Tail['requests'] }) {
  const times = number(timesOf(group));
  if (group.length === 1) return times;
  return h('details', null, [
    h('summary', null, times),
    group
      .slice(1)
      .map((request) =>
        h('div', { key: request.id }, h(RequestLink, { request })),
      ),
  ]);
}
